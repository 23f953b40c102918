import type { ErrorCode } from '@millrace/contract'
import type { Column } from './columns.ts'

/** Why a result has no end. */
export interface ResultFailure {
  readonly code: ErrorCode
  readonly message: string
}

/** A result that is kept for its later pages (CU-1). */
export interface SpooledResult {
  readonly id: string
  readonly projectId: number
  readonly columns: readonly Column[]
  /** Null while it is being written, and when it has failed. */
  readonly rowCount: number | null
  /** Null unless its execution ended before its last row. */
  readonly failure: ResultFailure | null
  /** Epoch milliseconds of its execution. */
  readonly generatedAt: number
  /** Epoch milliseconds at which its writer last told that it lives. */
  readonly writtenAt: number
}

/** Consecutive rows of a result, each the JSON text of an object with a comma and a line break behind it, compressed. */
export interface SpoolChunk {
  readonly firstRow: number
  readonly rowCount: number
  readonly body: Uint8Array
}

/** Where results are kept, so that any instance can serve any page (CU-3). */
export interface Spool {
  begin(result: Pick<SpooledResult, 'id' | 'projectId' | 'columns' | 'generatedAt'>): Promise<void>
  append(resultId: string, chunk: SpoolChunk): Promise<void>
  /** Tells that the writer lives, at an instant. */
  beat(resultId: string, now: number): Promise<void>
  finish(resultId: string, rowCount: number): Promise<void>
  /** Drops the rows; the result itself stays until it expires, to say why it has none. */
  fail(resultId: string, failure: ResultFailure): Promise<void>
  drop(resultId: string): Promise<void>
  /** A result of the project, now used; null when it has expired or never was. */
  use(resultId: string, projectId: number, now: number): Promise<SpooledResult | null>
  /** The chunk that holds a row; null where none does yet. */
  chunkAt(resultId: string, row: number): Promise<SpoolChunk | null>
  /** Compressed bytes that a project's results take, and all results. */
  usage(projectId: number): Promise<{ readonly projectBytes: number; readonly totalBytes: number }>
  /** Drops what was last used before an instant; returns how many. */
  expire(usedBefore: number): Promise<number>
}
