import { ServiceError } from '../platform/errors.ts'
import { readColumns, type Column } from './columns.ts'
import { PageFill, type Page, type PageLimit } from './page.ts'
import { createRowReader } from './read-row.ts'
import type { Spool } from './spool.ts'
import { packChunk } from './spool-chunk.ts'
import type { RowStream } from './sql-engine.ts'

/** Bounds of what is kept (CU-3). Bytes are JSON text for one result, and compressed for the sums. */
export interface SpoolLimits {
  readonly resultBytesMax: number
  readonly projectBytesMax: number
  readonly totalBytesMax: number
}

/** A result on its way into the spool. */
interface Target {
  readonly spool: Spool
  readonly resultId: string
  readonly projectId: number
  readonly generatedAt: number
  readonly limits: SpoolLimits
}

const CHUNK_ROWS = 5000
const CHUNK_CHARACTERS = 1_000_000

/**
 * Reads a result to its end, so that an answer is whole or an error (ER-4), and gives back its first page. A result
 * that fits is not kept; of a longer one every row is, the first page's too.
 */
export async function spoolResult(
  stream: RowStream,
  limit: PageLimit,
  target: Target,
  clean: (text: string) => string,
): Promise<Page> {
  const { columns, types } = readColumns(stream.names, stream.types)
  const readRow = createRowReader(types)
  const toText = createRowWriter(columns)
  const first = new PageFill(limit)
  let writer: SpoolWriter | null = null
  try {
    for await (const lines of stream.lines) {
      for (const line of lines) {
        const row = clean(toText(readRow(line)))
        if (!writer && first.take(row)) continue
        if (!writer) {
          await target.spool.begin({
            id: target.resultId,
            projectId: target.projectId,
            columns,
            generatedAt: target.generatedAt,
          })
          writer = createSpoolWriter(target)
          for (const early of first.rows) await writer.write(early)
        }
        await writer.write(row)
      }
    }
    await writer?.finish()
  } catch (error) {
    if (writer) await target.spool.drop(target.resultId)
    throw error
  }
  const { generatedAt, resultId } = target
  const next = writer ? { resultId, firstRow: first.rows.length } : null
  return { columns, rows: first.values(), generatedAt, next }
}

/** Writes rows as the JSON text of objects. The names are written once, as most of the time goes into this. */
function createRowWriter(columns: readonly Column[]): (values: readonly unknown[]) => string {
  const openings = columns.map(({ name }, n) => `${n === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return (values) => {
    let text = ''
    for (const [n, opening] of openings.entries()) text += opening + JSON.stringify(values[n] ?? null)
    return text === '' ? '{}' : `${text}}`
  }
}

interface SpoolWriter {
  write(row: string): Promise<void>
  finish(): Promise<void>
}

function createSpoolWriter({ spool, resultId, projectId, limits }: Target): SpoolWriter {
  let waiting: string[] = []
  let waitingCharacters = 0
  let rowCount = 0
  let resultBytes = 0

  async function flush(): Promise<void> {
    if (waiting.length === 0) return
    const rows = waiting
    waiting = []
    waitingCharacters = 0
    await spool.append(resultId, await packChunk(rowCount - rows.length, rows))
    const { projectBytes, totalBytes } = await spool.usage(projectId)
    if (projectBytes > limits.projectBytesMax) {
      throw tooLarge('the kept results of this project', limits.projectBytesMax)
    }
    if (totalBytes > limits.totalBytesMax)
      throw tooLarge('the kept results of this service', limits.totalBytesMax)
  }

  return {
    async write(row) {
      waiting.push(row)
      waitingCharacters += row.length
      rowCount++
      resultBytes += Buffer.byteLength(row)
      if (resultBytes > limits.resultBytesMax) throw tooLarge('the result', limits.resultBytesMax)
      if (waiting.length >= CHUNK_ROWS || waitingCharacters >= CHUNK_CHARACTERS) await flush()
    },
    async finish() {
      await flush()
      await spool.finish(resultId, rowCount)
    },
  }
}

function tooLarge(what: string, bytesMax: number): ServiceError {
  return new ServiceError(
    'resource_exhausted',
    `${what} would take more than ${bytesMax} bytes; select fewer rows or columns, or add a LIMIT`,
    { retryAfterSeconds: 60 },
  )
}
