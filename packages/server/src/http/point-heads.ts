/**
 * What stands before the value of each point, in words of eight bytes, `stride` of them a point: a word is written at once. No ASCII text is the
 * bits of a NaN, which a number might not keep.
 */
export interface PointHeads {
  readonly words: Float64Array
  readonly lengths: Uint8Array
  readonly stride: number
}

export const WORD_BYTES = 8
const BEFORE = ',{"timestamp":"'
const BEHIND = '","value":'
const ZERO = 0x30

/** The heads of points at these whole seconds, ascending. Times that follow one another have as many digits, so that only those are written anew. */
export function pointHeads(timestampsSeconds: readonly number[]): PointHeads {
  const ends = [timestampsSeconds[0] ?? 0, timestampsSeconds.at(-1) ?? 0]
  const longest = Math.max(...ends.map((each) => String(each).length))
  const stride = Math.ceil((BEFORE.length + longest + BEHIND.length) / WORD_BYTES)
  const words = new Float64Array(timestampsSeconds.length * stride)
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
    const at = index * stride * WORD_BYTES
    bytes.set(template, at)
    lengths[index] = template.length
    // The template of a time before 1970 is its own.
    for (let rest = seconds, place = at + BEFORE.length + digits - 1; rest > 0; place -= 1) {
      const tenth = Math.floor(rest / 10)
      bytes[place] = ZERO + rest - tenth * 10
      rest = tenth
    }
  }
  return { words, lengths, stride }
}
