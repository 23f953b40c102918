import { ServiceError } from '../platform/errors.ts'
import type { ChunkReader } from './chunk-reader.ts'
import { PageFill, type Page, type PageLimit } from './page.ts'
import type { Spool, SpooledResult } from './spool.ts'

/** Where a page begins. */
export interface PageStart {
  readonly resultId: string
  readonly projectId: number
  readonly firstRow: number
}

export interface PageReader {
  readonly spool: Spool
  readonly chunks: ChunkReader
  now(): number
  sleep(ms: number): Promise<unknown>
}

const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 200
/** A writer tells every few seconds that it lives. */
const DEAD_AFTER_MS = 60_000

/**
 * Reads a page of a kept result, and waits for rows that are still to come. Throws `not_found` when the result has
 * expired (CU-2), and what its execution failed with when it ended before these rows.
 */
export async function readPage(
  reader: PageReader,
  at: PageStart,
  limit: PageLimit,
  signal: AbortSignal,
): Promise<Page> {
  const { chunks } = reader
  const fill = new PageFill(limit)
  let result = await find(reader, at)
  for (let waitMs = FIRST_WAIT_MS; ;) {
    const row = at.firstRow + fill.rowCount
    const isEnd = result.rowCount !== null && row >= result.rowCount
    const rows = isEnd ? null : await chunks.rowsAt(at.resultId, row, fill.room + 1)
    // A full page whose next row is known to be there needs nothing more.
    if (isEnd || (rows && fill.room === 0)) return toPage(result, at, fill, rows !== null)
    if (rows) {
      fill.take(rows)
      if (fill.isFull) return toPage(result, at, fill, true)
      continue
    }
    if (result.rowCount !== null) throw expired()
    await reader.sleep(waitMs)
    if (signal.aborted) throw new ServiceError('cancelled', 'the caller went away')
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
    result = await find(reader, at)
  }
}

async function find({ spool, now }: PageReader, at: PageStart): Promise<SpooledResult> {
  const result = await spool.use(at.resultId, at.projectId, now())
  if (!result) throw expired()
  if (result.failure) {
    throw new ServiceError(
      result.failure.code,
      `the statement ended before these rows: ${result.failure.message}`,
    )
  }
  if (result.rowCount === null && now() - result.writtenAt > DEAD_AFTER_MS) {
    throw new ServiceError('not_found', 'the statement was interrupted; start again with sqlQuery')
  }
  return result
}

function toPage(result: SpooledResult, at: PageStart, fill: PageFill, hasMore: boolean): Page {
  return {
    columns: result.columns,
    rows: fill.text(),
    rowCount: fill.rowCount,
    generatedAt: result.generatedAt,
    next: hasMore ? { resultId: at.resultId, firstRow: at.firstRow + fill.rowCount } : null,
  }
}

function expired(): ServiceError {
  return new ServiceError('not_found', 'cursor has expired; start again with sqlQuery')
}
