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

/** The rows of a chunk. JSON text holds no line breaks. */
export async function unpackChunk({ body }: Pick<SpoolChunk, 'body'>): Promise<RowBatch> {
  const bytes = await decompress(body)
  const ends: number[] = []
  for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, end + 1))
    ends.push(end + 1)
  return { bytes, ends }
}
