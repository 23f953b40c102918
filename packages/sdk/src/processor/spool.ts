/** What is sent: a batch of lines under its id, or a rollback. */
export type SpoolEntry =
  | { readonly kind: 'batch'; readonly id: string; readonly text: string }
  | { readonly kind: 'rollback'; readonly chain: string; readonly blockNumber: number }

/** Where entries wait while the service is away, first in, first out. */
export interface Spool {
  /** The oldest entry; null when there is none. */
  first(): Promise<SpoolEntry | null>
  removeFirst(): Promise<void>
  /** Resolves after the entry is on disk; with false when there is no room for it. */
  add(entry: SpoolEntry): Promise<boolean>
}
