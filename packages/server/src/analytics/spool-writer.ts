import { ServiceError } from '../platform/errors.ts'
import type { RowBatch } from './encode-rows.ts'
import type { Spool } from './spool.ts'
import { packChunk } from './spool-chunk.ts'

/** Bounds of what is kept (CU-3). Bytes are JSON text for one result, and compressed for the sums. */
export interface SpoolLimits {
  readonly resultBytesMax: number
  readonly projectBytesMax: number
  readonly totalBytesMax: number
}

/** Writes the rows of one result. */
export interface SpoolWriter {
  write(batch: RowBatch): Promise<void>
  finish(): Promise<void>
}

const CHUNK_ROWS = 5000
const CHUNK_BYTES = 1_000_000
/** Sums are read again after this many chunks; in between they can only have grown by what others write. */
const CHUNKS_A_SUM = 16

/** Packs the rows of a result from one on into chunks, and ends with `resource_exhausted` where a bound would be passed. */
export function createSpoolWriter(
  spool: Spool,
  target: {
    readonly resultId: string
    readonly projectId: number
    readonly firstRow: number
    readonly limits: SpoolLimits
  },
): SpoolWriter {
  const { resultId, projectId, firstRow, limits } = target
  let parts: Buffer[] = []
  let partBytes = 0
  let partRows = 0
  let rowCount = firstRow
  let resultBytes = 0
  let chunkCount = 0

  async function flush(): Promise<void> {
    if (partRows === 0) return
    const bytes = Buffer.concat(parts)
    const count = partRows
    parts = []
    partBytes = 0
    partRows = 0
    await spool.append(resultId, await packChunk(rowCount - count, count, bytes))
    if (chunkCount++ % CHUNKS_A_SUM !== 0) return
    const { projectBytes, totalBytes } = await spool.usage(projectId)
    if (projectBytes > limits.projectBytesMax) {
      throw tooLarge('the kept results of this project', limits.projectBytesMax)
    }
    if (totalBytes > limits.totalBytesMax) {
      throw tooLarge('the kept results of this service', limits.totalBytesMax)
    }
  }

  return {
    async write({ bytes, ends }) {
      parts.push(bytes)
      partBytes += bytes.length
      partRows += ends.length
      rowCount += ends.length
      resultBytes += bytes.length
      if (resultBytes > limits.resultBytesMax) throw tooLarge('the result', limits.resultBytesMax)
      if (partRows >= CHUNK_ROWS || partBytes >= CHUNK_BYTES) await flush()
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
