/**
 * What stands before the value of each point, in words of eight bytes, each of which is written at once. No ASCII text is the bits of a NaN, which
 * a number might not keep.
 */
export interface PointHeads {
  /** `HEAD_WORDS` of each point. */
  readonly words: Float64Array
  readonly lengths: Uint8Array
}

/** Enough for any second that a date has; a fixed number is written three times as fast as one that varies. */
export const HEAD_WORDS = 5
export const HEAD_BYTES = 8 * HEAD_WORDS
const BEFORE = ',{"timestamp":"'
const BEHIND = '","value":'
const ZERO = 0x30

/** Those made last: the answers to the queries of a dashboard have the same times. */
let last: { readonly timestampsSeconds: Float64Array; readonly heads: PointHeads } | null = null

/** The heads of points at these whole seconds, ascending. */
export function pointHeads(timestampsSeconds: Float64Array): PointHeads {
  if (last && isSame(last.timestampsSeconds, timestampsSeconds)) return last.heads
  last = { timestampsSeconds, heads: makeHeads(timestampsSeconds) }
  return last.heads
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

/** Times that follow one another have as many digits, so that only those are written anew. */
function makeHeads(timestampsSeconds: Float64Array): PointHeads {
  const words = new Float64Array(timestampsSeconds.length * HEAD_WORDS)
  const lengths = new Uint8Array(timestampsSeconds.length)
  const bytes = Buffer.from(words.buffer)
  const template = new Float64Array(HEAD_WORDS)
  const templateBytes = Buffer.from(template.buffer)
  let [from, to] = [Infinity, -Infinity]
  let [length, digits] = [0, 0]
  for (let index = 0; index < timestampsSeconds.length; index += 1) {
    const seconds = timestampsSeconds[index] ?? 0
    if (seconds < from || seconds >= to) {
      length = templateBytes.write(`${BEFORE}${seconds}${BEHIND}`, 'latin1')
      digits = String(seconds).length
      ;[from, to] = seconds < 0 ? [seconds, seconds + 1] : [10 ** (digits - 1), 10 ** digits]
    }
    const first = index * HEAD_WORDS
    for (let word = 0; word < HEAD_WORDS; word += 1) words[first + word] = template[word] ?? 0
    lengths[index] = length
    // The template of a time before 1970 is its own.
    const units = index * HEAD_BYTES + BEFORE.length + digits - 1
    for (let rest = seconds, place = units; rest > 0; place -= 1) {
      const tenth = Math.floor(rest / 10)
      bytes[place] = ZERO + rest - tenth * 10
      rest = tenth
    }
  }
  return { words, lengths }
}
