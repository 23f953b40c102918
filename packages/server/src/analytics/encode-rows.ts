import { isUtf8 } from 'node:buffer'
import type { ColumnType } from './column-type.ts'
import type { Column } from './columns.ts'
import { createRowReader } from './read-row.ts'
import { cellRule, type CellRule } from './row-cells.ts'
import { copyRows, planCopy, type RowSpace } from './copy-rows.ts'
import { linesOf } from './row-lines.ts'

/** Rows as JSON objects in UTF-8, each followed by a comma and a line break. */
export interface RowBatch {
  readonly bytes: Buffer
  /** Where each row ends, its comma and line break included. */
  readonly ends: readonly number[]
}

/** The rows of a batch behind the first ones, at most as many as wanted. */
export function rowsOf({ bytes, ends }: RowBatch, skipped: number, count = Infinity): RowBatch {
  const start = skipped === 0 ? 0 : (ends[skipped - 1] ?? bytes.length)
  return {
    bytes: bytes.subarray(start),
    ends: ends.slice(skipped, skipped + count).map((end) => end - start),
  }
}

/** Turns whole lines of the engine, each a JSON array and a line break, into rows. */
export type EncodeRows = (lines: Buffer) => RowBatch

const END_OF_ROW = ',\n'
const SHORT_BYTES_MAX = 2 ** 18
/** Where short results are put together, one at a time: memory that is asked for anew makes the garbage collector run. */
const scratch = Buffer.allocUnsafeSlow(2 ** 19)

/**
 * An encoder that copies the bytes of values as the engine wrote them, which is many times as fast as parsing them.
 * A line with something that needs more than that is parsed (`createRowReader`), so that both give the same values.
 *
 * @param clean changes the text of a row; every line is then parsed
 */
export function createRowEncoder(
  columns: readonly Column[],
  types: readonly ColumnType[],
  clean?: (text: string) => string,
): EncodeRows {
  const readRow = createRowReader(types)
  const texts = columns.map(({ name }, n) => `${n === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const rules = types.map(cellRule)
  const isParsed = clean !== undefined || rules.includes('convert') || columns.length === 0
  const plan = planCopy(
    texts.map((text) => Buffer.from(text)),
    rules.map(copyRule),
  )
  const own: RowSpace = { bytes: Buffer.alloc(0), used: 0 }
  let copiedBytes = 0

  function parse(line: Uint8Array): Buffer {
    const values = readRow(line)
    let text = ''
    for (const [n, opening] of texts.entries()) text += opening + JSON.stringify(values[n] ?? null)
    const row = text === '' ? '{}' : `${text}}`
    return Buffer.from((clean ? clean(row) : row) + END_OF_ROW)
  }

  function parseAll(lines: Buffer): RowBatch {
    const rows = linesOf(lines).map(parse)
    let end = 0
    return { bytes: Buffer.concat(rows), ends: rows.map(({ length }) => (end += length)) }
  }

  /** A short result is kept for long perhaps, and takes no more than its bytes; a long one is put together where it stays. */
  function copy(lines: Buffer): RowBatch {
    if (copiedBytes > SHORT_BYTES_MAX) return copyRows(lines, plan, own, parse)
    const { bytes, ends } = copyRows(lines, plan, { bytes: scratch, used: 0 }, parse)
    copiedBytes += bytes.length
    return { bytes: Buffer.from(bytes), ends }
  }

  return (lines) => (isParsed || !isUtf8(lines) ? parseAll(lines) : copy(lines))
}

function copyRule(rule: CellRule): Exclude<CellRule, 'convert'> {
  return rule === 'convert' ? 'search' : rule
}
