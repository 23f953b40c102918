import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { SpoolChunk } from './spool.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 }

/** Packs rows, each the JSON text of an object; JSON text holds no line breaks. */
export async function packChunk(firstRow: number, rows: readonly string[]): Promise<SpoolChunk> {
  const body = await compress(rows.join('\n'), { params: PARAMETERS })
  return { firstRow, rowCount: rows.length, body }
}

/** The rows of a chunk, from the one with this number on. */
export async function unpackChunk(chunk: SpoolChunk, fromRow: number): Promise<readonly string[]> {
  const text = (await decompress(chunk.body)).toString()
  return text.split('\n').slice(fromRow - chunk.firstRow)
}
