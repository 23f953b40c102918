/** A value without its rows of numbers. */
export interface SplitValue {
  /** JSON, in which marks stand for the rows. */
  readonly frame: string
  readonly rows: readonly Float64Array[]
}

/** Stands before what takes the place of a row; a text that begins with it gets another one, so that none is taken for a row. */
const MARK = '\u0001'
const MARK_IN_JSON = String.raw`\u0001`

/**
 * Takes the rows out of a value that JSON can hold otherwise; null for one that is nothing in JSON. Throws for what JSON refuses. Most of an
 * answer are long rows of numbers, and to write them as text takes many times as long as to take them as they are.
 */
export function splitRows(value: unknown): SplitValue | null {
  const rows: Float64Array[] = []
  const frame = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return member.startsWith(MARK) ? MARK + member : member
    if (!(member instanceof Float64Array)) return member
    rows.push(member)
    return `${MARK}${rows.length - 1} ${member.length}`
  }) as string | undefined
  return frame === undefined ? null : { frame, rows }
}

/** The value that was split. */
export function joinRows({ frame, rows }: SplitValue): unknown {
  if (!frame.includes(MARK_IN_JSON)) return JSON.parse(frame)
  return JSON.parse(frame, (_, member: unknown) => {
    if (typeof member !== 'string' || !member.startsWith(MARK)) return member
    return member.startsWith(MARK, 1) ? member.slice(1) : rows[Number.parseInt(member.slice(1), 10)]
  })
}
