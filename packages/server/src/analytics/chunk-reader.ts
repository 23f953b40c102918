import { rowsOf, type RowBatch } from './encode-rows.ts'
import { createRecentValues } from '../platform/recent-values.ts'
import type { Spool } from './spool.ts'
import { unpackChunk } from './spool-chunk.ts'

/** Reads rows of kept results. */
export interface ChunkReader {
  /**
   * The rows of a result from one on, at most `count` and no more than their chunk holds; null where none are yet. Whether the result is the
   * caller's to read, and is still kept, is for the caller to find out each time.
   */
  rowsAt(resultId: string, row: number, count: number): Promise<RowBatch | null>
}

interface UnpackedChunk extends RowBatch {
  readonly firstRow: number
}

/** Bytes of unpacked chunks that are remembered, all together. */
const REMEMBERED_BYTES_MAX = 32 * 2 ** 20
const BYTES_OF_END = 8

/** Unpacks a chunk once for the several pages in it: the last one of each result is remembered, and what is written never changes. */
export function createChunkReader(
  spool: Pick<Spool, 'chunkAt'>,
  rememberedBytesMax = REMEMBERED_BYTES_MAX,
): ChunkReader {
  const recent = createRecentValues<UnpackedChunk>(rememberedBytesMax)

  async function read(resultId: string, row: number): Promise<UnpackedChunk | null> {
    const found = await spool.chunkAt(resultId, row)
    if (!found) return null
    const chunk = { firstRow: found.firstRow, ...(await unpackChunk(found)) }
    recent.put(resultId, chunk, chunk.bytes.length + chunk.ends.length * BYTES_OF_END)
    return chunk
  }

  return {
    rowsAt: async (resultId, row, count) => {
      const known = recent.get(resultId)
      const chunk = known && holds(known, row) ? known : await read(resultId, row)
      return chunk && rowsOf(chunk, row - chunk.firstRow, count)
    },
  }
}

function holds({ firstRow, ends }: UnpackedChunk, row: number): boolean {
  return row >= firstRow && row < firstRow + ends.length
}
