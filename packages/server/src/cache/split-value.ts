import { ByteText } from './byte-text.ts'

/** A value without its rows of numbers and its texts of bytes. */
export interface SplitValue {
  /** JSON, in which marks stand for the others. */
  readonly frame: string
  readonly rows: readonly Float64Array[]
  readonly texts: readonly ByteText[]
}

/** Begins what takes the place of a row or a text of bytes; a text of JSON that begins with it gets another one, so that none is taken for either. */
const MARK = '\u0001'
const MARK_IN_JSON = String.raw`\u0001`
/** Follows the mark of a text of bytes; that of a row is followed by a number. */
const TEXT = 't'

/**
 * Takes out of a value what JSON can hold but not cheaply; null for one that is nothing in JSON. Throws for what JSON refuses. Most of an answer
 * are long rows of numbers, or rows of SQL that are JSON already: to write them as JSON takes many times as long as to take them as they are.
 */
export function splitValue(value: unknown): SplitValue | null {
  const rows: Float64Array[] = []
  const texts: ByteText[] = []
  const frame = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return member.startsWith(MARK) ? MARK + member : member
    if (member instanceof Float64Array) return `${MARK}${rows.push(member) - 1} ${member.length}`
    if (member instanceof ByteText) return `${MARK}${TEXT}${texts.push(member) - 1} ${member.byteLength}`
    return member
  }) as string | undefined
  return frame === undefined ? null : { frame, rows, texts }
}

/** The value that was split. */
export function joinValue({ frame, rows, texts }: SplitValue): unknown {
  if (!frame.includes(MARK_IN_JSON)) return JSON.parse(frame)
  return JSON.parse(frame, (_, member: unknown) => {
    if (typeof member !== 'string' || !member.startsWith(MARK)) return member
    if (member.startsWith(MARK, 1)) return member.slice(1)
    return member.startsWith(TEXT, 1)
      ? texts[Number.parseInt(member.slice(2), 10)]
      : rows[Number.parseInt(member.slice(1), 10)]
  })
}
