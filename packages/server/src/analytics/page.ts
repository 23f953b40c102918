import { ServiceError } from '../platform/errors.ts'
import type { Column } from './columns.ts'
import type { Spool } from './spool.ts'
import { unpackChunk } from './spool-chunk.ts'

/** Part of a result, and where the rest of it is. */
export interface Page {
  readonly columns: readonly Column[]
  /** Each row is an object with a member for every column. */
  readonly rows: readonly unknown[]
  /** Epoch milliseconds of the execution. */
  readonly generatedAt: number
  /** Null when these are the last rows. */
  readonly next: { readonly resultId: string; readonly firstRow: number } | null
}

/** Where a page ends, whichever comes first (SQ-5). A page holds at least one row. */
export interface PageLimit {
  readonly rows: number
  readonly bytes: number
}

/** Collects rows until a page is full. */
export class PageFill {
  readonly rows: string[] = []
  readonly #limit: PageLimit
  #bytes = 0

  constructor(limit: PageLimit) {
    this.#limit = limit
  }

  /** Takes a row unless the page is full; false when it is. */
  take(row: string): boolean {
    const bytes = this.#bytes + Buffer.byteLength(row)
    const isFull = this.rows.length >= this.#limit.rows || (this.rows.length > 0 && bytes > this.#limit.bytes)
    if (isFull) return false
    this.#bytes = bytes
    this.rows.push(row)
    return true
  }

  /** The rows taken, as values. */
  values(): readonly unknown[] {
    return this.rows.map((row) => JSON.parse(row) as unknown)
  }
}

/** Reads a page of a kept result. Throws `not_found` when it has expired (CU-2). */
export async function readPage(
  spool: Spool,
  at: { readonly resultId: string; readonly projectId: number; readonly firstRow: number },
  limit: PageLimit,
  now: number,
): Promise<Page> {
  const result = await spool.use(at.resultId, at.projectId, now)
  if (!result) throw expired()
  const fill = new PageFill(limit)
  let isFull = false
  while (!isFull && at.firstRow + fill.rows.length < result.rowCount) {
    const row = at.firstRow + fill.rows.length
    const chunk = await spool.chunkAt(at.resultId, row)
    if (!chunk) throw expired()
    isFull = (await unpackChunk(chunk, row)).some((text) => !fill.take(text))
  }
  const nextRow = at.firstRow + fill.rows.length
  return {
    columns: result.columns,
    rows: fill.values(),
    generatedAt: result.generatedAt,
    next: nextRow < result.rowCount ? { resultId: at.resultId, firstRow: nextRow } : null,
  }
}

function expired(): ServiceError {
  return new ServiceError('not_found', 'cursor has expired; start again with sqlQuery')
}
