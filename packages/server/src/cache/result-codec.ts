import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { ByteParts } from '../platform/byte-parts.ts'
import { ByteText } from './byte-text.ts'
import { joinValue, splitValue, type SplitValue } from './split-value.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Level 1: cached answers are written once and read a few times, so the time to write counts. */
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 }
/** Ends the first line. JSON text holds none. */
const LINE_BREAK = 0x0a

/** The first line of a stored answer, as JSON. Behind it stand the bytes of its texts, one behind the other. */
interface FirstLine extends Pick<SplitValue, 'frame'> {
  /** No number is null in JSON. */
  readonly rows: readonly (readonly (number | null)[])[]
  readonly textLengths: readonly number[]
}

/** An answer as it is stored; null for nothing, and for one of more than `bytesMax` before it is compressed, which is done off the event loop. */
export async function encodeResult(value: unknown, bytesMax: number): Promise<Uint8Array | null> {
  const split = splitValue(value)
  if (!split) return null
  const { frame, rows, texts } = split
  const firstLine: FirstLine = {
    frame,
    rows: rows.map((row) => Array.from(row)),
    textLengths: texts.map(({ byteLength }) => byteLength),
  }
  const stored = new ByteParts([
    Buffer.from(`${JSON.stringify(firstLine)}\n`),
    ...texts.flatMap((text) => text.parts),
  ])
  return stored.byteLength > bytesMax ? null : compress(stored.whole(), { params: PARAMETERS })
}

/** Takes back what `encodeResult` made; null for what an earlier release did, all of it in one line without an end. Refuses to unpack more than `bytesMax`. */
export async function decodeResult(
  body: Uint8Array,
  bytesMax: number,
): Promise<{ readonly value: unknown } | null> {
  const bytes = await decompress(body, { maxOutputLength: bytesMax })
  const lineEnd = bytes.indexOf(LINE_BREAK)
  if (lineEnd < 0) return null
  const { frame, rows, textLengths } = JSON.parse(bytes.toString('utf8', 0, lineEnd)) as FirstLine
  let at = lineEnd + 1
  return {
    value: joinValue({
      frame,
      rows: rows.map((row) => Float64Array.from(row.map((value) => value ?? Number.NaN))),
      texts: textLengths.map((length) => new ByteText([bytes.subarray(at, (at += length))])),
    }),
  }
}
