import type { RowBatch } from './encode-rows.ts'
import type { CellRule } from './row-cells.ts'

/** What stands before the value of each column, and what its values need. */
export interface CopyPlan {
  readonly openings: readonly Uint8Array[]
  readonly words: readonly Float64Array[]
  readonly codes: Uint8Array
  /** What a row may be longer than its line. */
  readonly growthBytes: number
}

/** Where rows are put together, one behind the other. What lies before `used` is not written again. */
export interface RowSpace {
  bytes: Buffer
  used: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LINE_BREAK = 0x0a
const SPACE = 0x20
const LETTER_N = 0x6e
const LONG_DIGITS = 16
/** What a value may gain: quotes, or a midnight; and how far a copy by words may write beyond its end. */
const GROWTH_BYTES = 16
const MIDNIGHT = Buffer.from('T00:00:00Z"')
const WORD_BYTES = 4
const OPENING_WORD_BYTES = 8
/** What stands behind a row, as a word: a brace, a comma and a line break. */
const [END_WORD, END_BYTES] = [0x0a2c7d, 3] as const
/** A byte, four times, for comparing four at once: https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord */
const [QUOTES, BACKSLASHES, COMMAS, CLOSE_BRACKETS] = [
  0x22222222, 0x5c5c5c5c, 0x2c2c2c2c, 0x5d5d5d5d,
] as const
const [ONES, HIGH_BITS] = [0x01010101, 0x80808080 | 0] as const
const [KEEP, WRAP, WRAP_IF_LONG, DATE, SEARCH] = [0, 1, 2, 3, 4] as const
const CODES = { keep: KEEP, quote: WRAP, quote_if_long: WRAP_IF_LONG, date: DATE, search: SEARCH } as const

/** New room is at least so much. */
const ROOM_BYTES = 2 ** 20

/** What copying rows of these columns needs, made once for all of them. */
export function planCopy(
  openings: readonly Uint8Array[],
  rules: readonly Exclude<CellRule, 'convert'>[],
): CopyPlan {
  return {
    openings,
    words: openings.map(wordsOf),
    codes: Uint8Array.from(rules, (rule) => CODES[rule]),
    growthBytes: openings.reduce((sum, { length }) => sum + length + GROWTH_BYTES, OPENING_WORD_BYTES),
  }
}

/**
 * Copies the values of a block of lines (JSON arrays in UTF-8) behind the names of their columns, most of it four bytes at a time.
 * One function, as its loops are only fast over local variables.
 *
 * @param parse gives the row of a line whose values cannot be copied
 */
export function copyRows(
  block: Buffer,
  plan: CopyPlan,
  space: RowSpace,
  parse: (line: Uint8Array) => Uint8Array,
): RowBatch {
  const { openings, words, codes, growthBytes } = plan
  const width = openings.length
  const ends: number[] = []
  const size = block.length
  const lastWord = size - WORD_BYTES
  const source = viewOf(block)
  let out = space.bytes
  let target = viewOf(out)
  let start = space.used
  let at = start
  let from = 0
  while (from < size) {
    // No row is longer than what is left of the block and what its values gain.
    if (at + size - from + growthBytes > out.length) {
      out = newRoom(out.subarray(start, at), size - from + growthBytes)
      target = viewOf(out)
      at -= start
      start = 0
    }
    const rowAt = at
    const lineFrom = from
    let isCopied = block[from++] === OPEN_BRACKET
    for (let column = 0; isCopied && column < width; column++) {
      const opening = words[column] ?? NO_WORDS
      for (let word = 0; word < opening.length; word++) {
        target.setFloat64(at + word * OPENING_WORD_BYTES, opening[word] ?? 0, true)
      }
      at += openings[column]?.length ?? 0
      const code = codes[column] ?? SEARCH
      let byte = block[from] ?? 0
      if (byte === QUOTE && code !== SEARCH) {
        out[at++] = QUOTE
        from++
        for (;;) {
          while (from <= lastWord) {
            const word = source.getInt32(from, true)
            const quotes = word ^ QUOTES
            const backslashes = word ^ BACKSLASHES
            const zeros =
              ((((quotes - ONES) | 0) & ~quotes) | (((backslashes - ONES) | 0) & ~backslashes)) & HIGH_BITS
            target.setInt32(at, word, true)
            if (zeros !== 0) {
              // The lowest mark is that of the first of them, and what was written behind it is written again.
              const before = (31 - Math.clz32(zeros & -zeros)) >> 3
              at += before
              from += before
              break
            }
            at += WORD_BYTES
            from += WORD_BYTES
          }
          for (byte = block[from] ?? 0; byte !== QUOTE && byte !== BACKSLASH && from < size;) {
            out[at++] = byte
            byte = block[++from] ?? 0
          }
          if (byte !== BACKSLASH || from >= size) break
          out[at++] = byte
          out[at++] = block[++from] ?? 0
          from++
        }
        from++
        if (code === DATE) {
          for (let place = 0; place < MIDNIGHT.length; place++) out[at++] = MIDNIGHT[place] ?? 0
        } else out[at++] = QUOTE
      } else if (code !== SEARCH) {
        const valueAt = at
        const isWrapped = code === WRAP && byte !== LETTER_N
        if (isWrapped) out[at++] = QUOTE
        const isNull = byte === LETTER_N
        while (from <= lastWord) {
          const word = source.getInt32(from, true)
          const commas = word ^ COMMAS
          const brackets = word ^ CLOSE_BRACKETS
          const zeros =
            ((((commas - ONES) | 0) & ~commas) | (((brackets - ONES) | 0) & ~brackets)) & HIGH_BITS
          target.setInt32(at, word, true)
          if (zeros !== 0) {
            const before = (31 - Math.clz32(zeros & -zeros)) >> 3
            at += before
            from += before
            break
          }
          at += WORD_BYTES
          from += WORD_BYTES
        }
        for (byte = block[from] ?? 0; byte !== COMMA && byte !== CLOSE_BRACKET && from < size;) {
          out[at++] = byte
          byte = block[++from] ?? 0
        }
        if (isWrapped) out[at++] = QUOTE
        else if (code === WRAP_IF_LONG && at - valueAt >= LONG_DIGITS && !isNull) {
          if (!Number.isSafeInteger(Number(out.toString('latin1', valueAt, at)))) {
            out.copyWithin(valueAt + 1, valueAt, at)
            out[valueAt] = QUOTE
            out[at + 1] = QUOTE
            at += 2
          }
        }
      } else {
        const end = endOfNested(block, from)
        if (end < 0) isCopied = false
        for (; from < end; from++) out[at++] = block[from] ?? 0
      }
      if (block[from++] !== (column === width - 1 ? CLOSE_BRACKET : COMMA)) isCopied = false
      if (block[from] === SPACE) from++
    }
    if (isCopied && (from === size || block[from] === LINE_BREAK)) {
      from++
      target.setInt32(at, END_WORD, true)
      at += END_BYTES
    } else {
      const lineEnd = block.indexOf(LINE_BREAK, lineFrom)
      from = lineEnd < 0 ? size : lineEnd
      const row = parse(block.subarray(lineFrom, from))
      from++
      at = rowAt
      if (at + row.length > out.length) {
        out = newRoom(out.subarray(start, at), row.length + size - from + growthBytes)
        target = viewOf(out)
        at -= start
        start = 0
      }
      out.set(row, at)
      at += row.length
    }
    ends.push(at - start)
  }
  space.bytes = out
  space.used = at
  return { bytes: out.subarray(start, at), ends }
}

const NO_WORDS = new Float64Array(0)

/** Bytes as words, the last of them filled up with zeros. No eight bytes of UTF-8 are a number that is none, whose bits might change. */
function wordsOf(bytes: Uint8Array): Float64Array {
  const padded = new DataView(
    new ArrayBuffer(Math.ceil(bytes.length / OPENING_WORD_BYTES) * OPENING_WORD_BYTES),
  )
  for (const [place, byte] of bytes.entries()) padded.setUint8(place, byte)
  return Float64Array.from({ length: padded.byteLength / OPENING_WORD_BYTES }, (_, word) =>
    padded.getFloat64(word * OPENING_WORD_BYTES, true),
  )
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Room that begins with the rows of a block so far, for as many bytes more. */
function newRoom(rows: Uint8Array, moreBytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES, 2 * (rows.length + moreBytes)))
  room.set(rows)
  return room
}

/** Where the list, object or other value at `from` ends; -1 when a long number stands in it. */
function endOfNested(block: Uint8Array, from: number): number {
  let depth = 0
  let digits = 0
  for (let place = from; place < block.length; place++) {
    const byte = block[place] ?? 0
    if (byte === QUOTE) {
      digits = 0
      for (place++; block[place] !== QUOTE; place++) {
        if (place >= block.length) return -1
        if (block[place] === BACKSLASH) place++
      }
    } else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) return place
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0
    if (digits >= LONG_DIGITS) return -1
  }
  return -1
}
