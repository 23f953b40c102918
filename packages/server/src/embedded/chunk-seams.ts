/** Formats that are lines or records all through: chunks follow one another as they are. */
const SEAMLESS =
  /^(JSONEachRow|JSONCompactEachRow|JSONCompactStringsEachRow|TabSeparated|TSV|TabSeparatedRaw|TSVRaw|CSV|RowBinary|Native)$/
/** Formats that begin with lines of names, and of types, and in which a line break never stands inside a value. */
const HEADED = /^(?:JSONCompactEachRow|JSONCompactStringsEachRow|TabSeparated|TSV)WithNames(AndTypes)?$/

/**
 * How the chunks of a streamed result become one: chDB writes each chunk as a whole of its own, so a header comes again
 * at the head of every chunk. Null for a format with more to it than that (JSON, Parquet, Arrow, …), which cannot be
 * streamed; else how many lines to leave out of every chunk but the first.
 */
export function repeatedHeaderLines(format: string): number | null {
  if (SEAMLESS.test(format)) return 0
  const headed = HEADED.exec(format)
  if (!headed) return null
  return headed[1] === undefined ? 1 : 2
}

/** A chunk without its first lines. */
export function dropLines(chunk: Uint8Array, lines: number): Uint8Array {
  let from = 0
  for (let line = 0; line < lines; line++) {
    const end = chunk.indexOf(0x0a, from)
    if (end === -1) return chunk.subarray(chunk.length)
    from = end + 1
  }
  return chunk.subarray(from)
}
