import type { Backoff } from './backoff.ts'

/** What bounds the delivery of a channel. */
export interface ChannelLimits {
  readonly maxBatchMessages: number
  readonly maxBatchBytes: number
  readonly backoff: Backoff
  /** A message dies when it is this old and its lane has failed this often (DL-5). */
  readonly deadLetter: { readonly ageMs: number; readonly attempts: number }
}

/** DL-3, DL-5, DL-7. */
export const DEFAULT_LIMITS: ChannelLimits = {
  maxBatchMessages: 100,
  maxBatchBytes: 256 * 1024,
  backoff: { initialMs: 1000, capMs: 3_600_000 },
  deadLetter: { ageMs: 24 * 3_600_000, attempts: 12 },
}

/**
 * Where a channel stands: `unconfigured` has no address yet (IN-7), `active` delivers, `failing` waits for its next
 * attempt after a failure, `paused` was stopped by its operator, `disabled` by an answer 410.
 */
export type ChannelStatus = 'unconfigured' | 'active' | 'failing' | 'paused' | 'disabled'

/** A webhook channel; its lane has the same id. */
export interface Channel {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly url: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly limits: ChannelLimits
  readonly isPaused: boolean
  readonly disabledReason: string | null
  readonly status: ChannelStatus
  readonly failures: number
  readonly failingSinceAt: number | null
  readonly nextAttemptAt: number
  readonly pendingMessages: number
  readonly oldestPendingAt: number | null
  readonly createdAt: number
}

/** What of a channel can be set; absent members stay as they are. */
export interface ChannelChange {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly limits?: ChannelLimits
  readonly isPaused?: boolean
}

/** Where channels live. Names are unique within a project. */
export interface ChannelStore {
  list(projectId: number): Promise<readonly Channel[]>
  find(projectId: number, name: string): Promise<Channel | null>
  /** Creates the channel, or gives an address to one that ingest or a deletion left without. False: it has one already. */
  create(
    projectId: number,
    name: string,
    configured: { readonly url: string; readonly secret: string } & ChannelChange,
    nowMs: number,
  ): Promise<boolean>
  /** Changes the channel. `secret` is kept where the channel has none yet. True when it was kept. */
  change(id: number, change: ChannelChange, secret: string, nowMs: number): Promise<boolean>
  /** Removes the channel with everything that waits in it. Its event ids stay taken. */
  remove(id: number, nowMs: number): Promise<void>
}
