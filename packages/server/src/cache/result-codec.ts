import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Level 1: cached answers are written once and read a few times, so the time to write counts. */
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 }

/** The JSON text of an answer, compressed off the event loop. */
export function encodeResult(json: string): Promise<Uint8Array> {
  return compress(json, { params: PARAMETERS })
}

/** Takes back what `encodeResult` made. Refuses to unpack more than `bytesMax`. */
export async function decodeResult(body: Uint8Array, bytesMax: number): Promise<string> {
  return (await decompress(body, { maxOutputLength: bytesMax })).toString('utf8')
}
