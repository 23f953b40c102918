import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { RowBatch } from './encode-rows.ts'
import type { SpoolChunk } from './spool.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 }
const LINE_BREAK = 0x0a

/** Packs rows. */
export async function packChunk(firstRow: number, rowCount: number, bytes: Uint8Array): Promise<SpoolChunk> {
  return { firstRow, rowCount, body: await compress(bytes, { params: PARAMETERS }) }
}

/** The rows of a chunk, at most `count` of them, from the one with this number on. JSON text holds no line breaks. */
export async function unpackChunk(chunk: SpoolChunk, fromRow: number, count: number): Promise<RowBatch> {
  const bytes = await decompress(chunk.body)
  let start = 0
  for (let row = chunk.firstRow; row < fromRow; row++) start = bytes.indexOf(LINE_BREAK, start) + 1
  const ends: number[] = []
  for (let end = start; ends.length < count && end < bytes.length;) {
    end = bytes.indexOf(LINE_BREAK, end) + 1
    ends.push(end - start)
  }
  return { bytes: bytes.subarray(start), ends }
}
