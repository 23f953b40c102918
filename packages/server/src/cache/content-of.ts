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
  const rows: Float64Array[] = []
  const frame = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return member.startsWith(MARK) ? MARK + member : member
    const row = Array.isArray(member) ? numbersOf(member) : null
    if (!row) return member
    rows.push(row)
    return `${MARK}${row.length}`
  }) as string | undefined
  if (frame === undefined) return null
  const hash = createHash('sha256').update(frame)
  let bytes = Buffer.byteLength(frame)
  for (const row of rows) {
    hash.update(row)
    bytes += row.length * NUMBER_BYTES
  }
  return { etag: `W/"${hash.digest('base64url').slice(0, 27)}"`, bytes }
}

/** The numbers of an array that holds nothing else, besides nulls; as JSON has them, where what is no number is null and -0 is 0. */
function numbersOf(members: readonly unknown[]): Float64Array | null {
  if (members.length === 0) return null
  const numbers = new Float64Array(members.length)
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i]
    if (typeof member === 'number') numbers[i] = Number.isFinite(member) ? member + 0 : Number.NaN
    else if (member === null) numbers[i] = Number.NaN
    else return null
  }
  return numbers
}
