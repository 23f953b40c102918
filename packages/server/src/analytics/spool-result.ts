import { ServiceError } from '../platform/errors.ts'
import { noteShortLived } from '../platform/young-memory.ts'
import { readColumns } from './columns.ts'
import { createRowEncoder, rowsOf } from './encode-rows.ts'
import { createPageGrowth, type GrowingPage, type PageGrowth } from './growing-page.ts'
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
  /** Told of a long first page when some of it is there. From then on a failure is kept, for whoever was given the beginning. */
  readonly onGrowing?: (page: GrowingPage) => void
  /** Is a growing page given to nobody else, and kept nowhere? */
  readonly isForReaderAlone?: boolean
}

const BEAT_EVERY_MS = 5000
/** A page that is longer is sent in pieces of so much: smaller ones cost both sides more wakings than they save time. */
const PIECE_BYTES_MIN = 512 * 1024

/**
 * Reads a result to its end. The first page is answered as soon as it is full, a long one while it fills; of a result longer than that the rows
 * behind it are kept, as no cursor leads to the first. One that fits is an answer when it is whole, and is not kept.
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
  const { spool, resultId, projectId, isForReaderAlone = false } = target
  const generatedAt = target.now()
  const { columns, types } = readColumns(stream.names, stream.types)
  const encode = createRowEncoder(columns, types, target.clean)
  const fill = new PageFill(limit)
  let writer: SpoolWriter | null = null
  let beat: NodeJS.Timeout | undefined
  let growth: PageGrowth | null = null
  /** So many bytes of the page are given to be sent. */
  let toldBytes = 0
  let isAnswered = false

  async function begin(firstRow: number): Promise<SpoolWriter> {
    await spool.begin({ id: resultId, projectId, columns, generatedAt })
    beat = setInterval(() => void spool.beat(resultId, target.now()).catch(() => undefined), BEAT_EVERY_MS)
    return createSpoolWriter(spool, { ...target, firstRow })
  }

  const pageWith = (next: Page['next']): Page => ({
    columns,
    rows: fill.text(),
    rowCount: fill.rowCount,
    generatedAt,
    next,
    ...(stream.rowsRead === null ? {} : { rowsRead: stream.rowsRead }),
  })

  const answerWith = (next: Page['next']): void => {
    isAnswered = true
    const page = pageWith(next)
    answer(page)
    growth?.end(page)
  }

  const grow = ({ onGrowing }: SpoolTarget): void => {
    if (!onGrowing || fill.byteLength - toldBytes <= PIECE_BYTES_MIN) return
    toldBytes = fill.byteLength
    if (growth) return growth.grown()
    growth = createPageGrowth(columns, fill, { isForReaderAlone })
    onGrowing(growth.page)
  }

  /** Keeps the failure. A page that has begun ends with the rows that are there, and leads to it. */
  async function fail(error: unknown): Promise<void> {
    const isBegun = growth !== null && !isAnswered
    if (isBegun) writer ??= await begin(fill.rowCount)
    if (writer) await spool.fail(resultId, failureOf(error))
    if (isBegun) growth?.end(pageWith({ resultId, firstRow: fill.rowCount }))
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
      if (!isAnswered) grow(target)
      if (writer) await writer.write(target.isAlwaysKept ? batch : rowsOf(batch, taken))
      // Not of a page that is kept until it is whole: all of it is still in use, and would be taken for something that stays.
      if (writer ?? (growth && isForReaderAlone)) noteShortLived(block.byteLength + batch.bytes.byteLength)
    }
    await writer?.finish()
    if (!isAnswered) answerWith(null)
  } catch (error) {
    await fail(error).catch((unkept: unknown) => {
      growth?.fail(error)
      throw unkept
    })
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
