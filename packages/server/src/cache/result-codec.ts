import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { joinRows, splitRows, type SplitValue } from './split-rows.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Level 1: cached answers are written once and read a few times, so the time to write counts. */
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 }

/** An answer as it is stored; null for one of more than `bytesMax` of JSON. Compressed off the event loop. */
export async function encodeResult(value: unknown, bytesMax: number): Promise<Uint8Array | null> {
  const split = splitRows(value)
  const rows = split?.rows.map((row) => Array.from(row))
  const json = JSON.stringify({ frame: split?.frame, rows })
  return Buffer.byteLength(json) > bytesMax ? null : compress(json, { params: PARAMETERS })
}

/** Takes back what `encodeResult` made; null for what an earlier release did. Refuses to unpack more than `bytesMax`. */
export async function decodeResult(
  body: Uint8Array,
  bytesMax: number,
): Promise<{ readonly value: unknown } | null> {
  const json = (await decompress(body, { maxOutputLength: bytesMax })).toString('utf8')
  const stored = JSON.parse(json) as Partial<StoredResult> | null
  if (typeof stored?.frame !== 'string' || !stored.rows) return null
  const rows = stored.rows.map((row) => Float64Array.from(row.map((value) => value ?? Number.NaN)))
  return { value: joinRows({ frame: stored.frame, rows }) }
}

/** No number is null in JSON. */
interface StoredResult extends Pick<SplitValue, 'frame'> {
  readonly rows: readonly (readonly (number | null)[])[]
}
