import { bareType, type ColumnType } from './column-type.ts'

/** What a value of the engine needs to become one of the answer (SQ-4). */
export type CellRule =
  /** Nothing. */
  | 'keep'
  /** Digits in quotes, whatever their number. */
  | 'quote'
  /** Digits in quotes where a double would not hold them. */
  | 'quote_if_long'
  /** Midnight behind a date. */
  | 'date'
  /** Nothing, unless a long number stands somewhere in it. */
  | 'search'
  /** More than can be done on its bytes. */
  | 'convert'

const KEPT =
  /^(U?Int(8|16|32)|B?Float\d+|String|FixedString|Bool|UUID|IPv[46]|Enum\d*|DateTime\w*|Decimal\d*|Nothing)$/
const WIDE = /^U?Int(128|256)$/
const LONG = /^(U?Int64|Interval\w+)$/
const SEARCHED = /^(Array|Map|Tuple|Nested|JSON|Object|Dynamic|Variant|Point|Ring|\w*Polygon|\w*LineString)$/

/** The rule for values of a type. */
export function cellRule(given: ColumnType): CellRule {
  const type = bareType(given)
  if (KEPT.test(type.name)) return 'keep'
  if (WIDE.test(type.name)) return 'quote'
  if (LONG.test(type.name)) return 'quote_if_long'
  if (type.name === 'Date' || type.name === 'Date32') return 'date'
  if (!SEARCHED.test(type.name)) return 'convert'
  return type.elements.every(isUntouched) ? 'search' : 'convert'
}

/** Within a container only long numbers may change, and the search finds those. */
function isUntouched(element: ColumnType): boolean {
  const rule = cellRule(element)
  const isFloat = /^B?Float/.test(bareType(element).name)
  return !isFloat && (rule === 'keep' || rule === 'quote_if_long' || rule === 'search')
}
