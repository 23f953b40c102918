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

/** The heads of points at these whole seconds, ascending. Times that follow one another have as many digits, so that only those are written anew. */
export function pointHeads(timestampsSeconds: readonly number[]): PointHeads {
  const words = new Float64Array(timestampsSeconds.length * HEAD_WORDS)
  const lengths = new Uint8Array(timestampsSeconds.length)
  const bytes = Buffer.from(words.buffer)
  let [from, to] = [Infinity, -Infinity]
  let [template, digits] = [Buffer.alloc(0), 0]
  for (let index = 0; index < timestampsSeconds.length; index += 1) {
    const seconds = timestampsSeconds[index] ?? 0
    if (seconds < from || seconds >= to) {
      template = Buffer.from(`${BEFORE}${seconds}${BEHIND}`, 'latin1')
      digits = String(seconds).length
      ;[from, to] = seconds < 0 ? [seconds, seconds + 1] : [10 ** (digits - 1), 10 ** digits]
    }
    const at = index * HEAD_BYTES
    bytes.set(template, at)
    lengths[index] = template.length
    // The template of a time before 1970 is its own.
    for (let rest = seconds, place = at + BEFORE.length + digits - 1; rest > 0; place -= 1) {
      const tenth = Math.floor(rest / 10)
      bytes[place] = ZERO + rest - tenth * 10
      rest = tenth
    }
  }
  return { words, lengths }
}
