import { ARROW_END, takeArrowMessages } from './arrow-seams.ts'

/** Formats that are lines or records all through: chunks follow one another as they are. */
const SEAMLESS =
  /^(JSONEachRow|JSONCompactEachRow|JSONCompactStringsEachRow|TabSeparated|TSV|TabSeparatedRaw|TSVRaw|CSV|RowBinary|Native)$/
/** Formats that begin with lines of names, and of types, and in which a line break never stands inside a value. */
const HEADED = /^(?:JSONCompactEachRow|JSONCompactStringsEachRow|TabSeparated|TSV)WithNames(AndTypes)?$/

/** How the chunks of a streamed result become one: chDB writes each chunk as a whole of its own. */
export interface ChunkSeams {
  /** What of a chunk belongs to the result. */
  take(chunk: Uint8Array, isFirst: boolean): Uint8Array
  /** What follows the last chunk, if there was any. */
  readonly end: Uint8Array | null
}

/** The seams of a format. Null for one with more to it than headers and ends (JSON, Parquet, …), which cannot be streamed. */
export function chunkSeams(format: string): ChunkSeams | null {
  if (SEAMLESS.test(format)) return { take: (chunk) => chunk, end: null }
  if (format === 'ArrowStream') return { take: takeArrowMessages, end: ARROW_END }
  const headed = HEADED.exec(format)
  if (!headed) return null
  const headerLines = headed[1] === undefined ? 1 : 2
  return { take: (chunk, isFirst) => (isFirst ? chunk : dropLines(chunk, headerLines)), end: null }
}

/** A chunk without its first lines. */
function dropLines(chunk: Uint8Array, lines: number): Uint8Array {
  let from = 0
  for (let line = 0; line < lines; line++) {
    const end = chunk.indexOf(0x0a, from)
    if (end === -1) return chunk.subarray(chunk.length)
    from = end + 1
  }
  return chunk.subarray(from)
}
