import { ServiceError } from '../platform/errors.ts'
import { noteShortLived } from '../platform/young-memory.ts'
import { readColumns } from './columns.ts'
import { createRowEncoder, rowsOf } from './encode-rows.ts'
import { PageFill, type Page, type PageLimit } from './page.ts'
import type { ResultFailure, Spool } from './spool.ts'
import { createSpoolWriter, type SpoolLimits, type SpoolWriter } from './spool-writer.ts'
import type { RowStream } from './sql-engine.ts'

/** A result on its way: its first page is there before its end. */
export interface RunningResult {
  readonly page: Promise<Page>
  /** Resolves when every row is kept that has to be. */
  readonly done: Promise<void>
}

/** How a result is kept. */
export interface SpoolTarget {
  readonly spool: Spool
  readonly resultId: string
  readonly projectId: number
  now(): number
  readonly limits: SpoolLimits
  /** Keep all of it, its first page too, and though it fits into that. */
  readonly isAlwaysKept: boolean
  /** Changes the text of a row before it is seen by anybody. */
  readonly clean?: (text: string) => string
}

const BEAT_EVERY_MS = 5000

/**
 * Reads a result to its end. The first page is answered as soon as it is full; of a result longer than that the rows behind it
 * are kept, as no cursor leads to the first. One that fits is an answer when it is whole, and is not kept.
 */
export function spoolResult(stream: RowStream, limit: PageLimit, target: SpoolTarget): RunningResult {
  const page = Promise.withResolvers<Page>()
  const done = readAll(stream, limit, target, page.resolve)
  // Whoever waits for either hears of it.
  done.catch(page.reject)
  page.promise.catch(() => undefined)
  return { page: page.promise, done }
}

async function readAll(
  stream: RowStream,
  limit: PageLimit,
  target: SpoolTarget,
  answer: (page: Page) => void,
): Promise<void> {
  const { spool, resultId, projectId } = target
  const generatedAt = target.now()
  const { columns, types } = readColumns(stream.names, stream.types)
  const encode = createRowEncoder(columns, types, target.clean)
  const fill = new PageFill(limit)
  let writer: SpoolWriter | null = null
  let beat: NodeJS.Timeout | undefined
  let isAnswered = false

  async function begin(firstRow: number): Promise<SpoolWriter> {
    await spool.begin({ id: resultId, projectId, columns, generatedAt })
    beat = setInterval(() => void spool.beat(resultId, target.now()).catch(() => undefined), BEAT_EVERY_MS)
    return createSpoolWriter(spool, { ...target, firstRow })
  }

  const answerWith = (next: Page['next']): void => {
    isAnswered = true
    answer({
      columns,
      rows: fill.text(),
      rowCount: fill.rowCount,
      generatedAt,
      next,
      ...(stream.rowsRead === null ? {} : { rowsRead: stream.rowsRead }),
    })
  }

  try {
    if (target.isAlwaysKept) writer = await begin(0)
    for await (const block of stream.blocks) {
      const batch = encode(block)
      const taken = fill.isFull ? 0 : fill.take(batch)
      if (fill.isFull && !isAnswered) {
        writer ??= await begin(fill.rowCount)
        answerWith({ resultId, firstRow: fill.rowCount })
      }
      if (!writer) continue
      await writer.write(target.isAlwaysKept ? batch : rowsOf(batch, taken))
      // Not of a page on its way: all of it is still in use, and would be taken for something that stays.
      noteShortLived(block.byteLength + batch.bytes.byteLength)
    }
    await writer?.finish()
    if (!isAnswered) answerWith(null)
  } catch (error) {
    if (writer) await spool.fail(resultId, failureOf(error))
    throw error
  } finally {
    clearInterval(beat)
  }
}

/** What later pages say of it. */
export function failureOf(error: unknown): ResultFailure {
  if (error instanceof ServiceError) return { code: error.code, message: error.message }
  return { code: 'internal', message: 'the service failed while it read the result' }
}
