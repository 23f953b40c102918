import { createHash } from 'node:crypto'

/** What stands for a JSON value without its text. */
export interface Content {
  /** Weak (RFC 9110, 8.8.1): the statistics of an answer may differ where its content is the same. */
  readonly etag: string
  /** About what the value takes in memory, and as JSON. */
  readonly bytes: number
}

const NUMBER_BYTES = 16
/** Stands before what takes the place of a row; a text that begins with it gets another one, so that none is taken for a row. */
const MARK = '\u0001'

/**
 * The content of a value that JSON can hold; null for one that is nothing in JSON. Throws for what JSON refuses. Most of an answer are long rows of
 * numbers, which are taken as they are: to write them as text takes many times as long.
 */
export function contentOf(value: unknown): Content | null {
  let length = 0
  const frame = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return member.startsWith(MARK) ? MARK + member : member
    if (!Array.isArray(member) || !isNumbers(member)) return member
    addNumbers(member, length)
    length += member.length
    return `${MARK}${member.length}`
  }) as string | undefined
  if (frame === undefined) return null
  const hash = createHash('sha256').update(frame).update(numbers.subarray(0, length))
  if (numbers.length > NUMBERS_KEPT_MAX) numbers = new Float64Array()
  const bytes = Buffer.byteLength(frame) + length * NUMBER_BYTES
  return { etag: `W/"${hash.digest('base64url').slice(0, 27)}"`, bytes }
}

/** Of the value that is looked at, row behind row; the next one is put into the same memory. */
let numbers = new Float64Array()
const NUMBERS_KEPT_MAX = 2 ** 17

/** Does an array hold numbers and nothing else, besides nulls? */
function isNumbers(members: readonly unknown[]): members is readonly (number | null)[] {
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i]
    if (typeof member !== 'number' && member !== null) return false
  }
  return members.length > 0
}

/** As JSON has them, where what is no number is null and -0 is 0. */
function addNumbers(members: readonly (number | null)[], at: number): void {
  if (at + members.length > numbers.length) {
    const larger = new Float64Array(2 * (at + members.length))
    larger.set(numbers.subarray(0, at))
    numbers = larger
  }
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i] ?? Number.NaN
    numbers[at + i] = Number.isFinite(member) ? member + 0 : Number.NaN
  }
}
