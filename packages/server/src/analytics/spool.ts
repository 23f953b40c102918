import type { Column } from './columns.ts'

/** A whole result that is kept for its later pages (CU-1). */
export interface SpooledResult {
  readonly id: string
  readonly projectId: number
  readonly columns: readonly Column[]
  readonly rowCount: number
  /** Epoch milliseconds of its execution. */
  readonly generatedAt: number
}

/** Consecutive rows of a result, each the JSON text of an object, one a line, compressed. */
export interface SpoolChunk {
  readonly firstRow: number
  readonly rowCount: number
  readonly body: Uint8Array
}

/** Where whole results are kept, so that any instance can serve any page (CU-3). */
export interface Spool {
  /** Begins a result. Nobody sees it before `finish`; one that never is goes when it expires. */
  begin(result: Omit<SpooledResult, 'rowCount'>): Promise<void>
  append(resultId: string, chunk: SpoolChunk): Promise<void>
  finish(resultId: string, rowCount: number): Promise<void>
  drop(resultId: string): Promise<void>
  /** A finished result of the project, now used; null when it has expired or never was. */
  use(resultId: string, projectId: number, now: number): Promise<SpooledResult | null>
  /** The chunk that holds a row; null behind the last one. */
  chunkAt(resultId: string, row: number): Promise<SpoolChunk | null>
  /** Compressed bytes that a project's results take, and all results. */
  usage(projectId: number): Promise<{ readonly projectBytes: number; readonly totalBytes: number }>
  /** Drops what was last used before an instant. */
  expire(usedBefore: number): Promise<void>
}
