/** A type of the engine, taken apart: `Array(Nullable(Int64))` is `Array` of `Nullable` of `Int64`. */
export interface ColumnType {
  readonly name: string
  /** Element types; a Map has two, a Tuple one for each element, and types without elements have none. */
  readonly elements: readonly ColumnType[]
  /** Names of a Tuple's elements; null where they have none. */
  readonly elementNames: readonly (string | null)[]
}

/** What a column holds, in the words of the interface (SQ-4). */
export const WIRE_TYPES = [
  'STRING',
  'NUMBER',
  'BOOLEAN',
  'LIST',
  'TIME',
  'MAP',
  'JSON',
  'TOKEN',
  'DYNAMIC',
] as const
export type WireType = (typeof WIRE_TYPES)[number]

const CONTAINERS = new Set([
  'Nullable',
  'LowCardinality',
  'Array',
  'Map',
  'Tuple',
  'Nested',
  'Variant',
  'SimpleAggregateFunction',
])

/** Reads a type as the engine writes it. Arguments that are no types (precisions, zones, enum values) are left out. */
export function parseColumnType(text: string): ColumnType {
  const open = text.indexOf('(')
  const name = (open < 0 ? text : text.slice(0, open)).trim()
  if (open < 0 || !CONTAINERS.has(name)) return { name, elements: [], elementNames: [] }
  const inside = splitArguments(text.slice(open + 1, text.lastIndexOf(')')))
  // Its first argument names the aggregate function; the value is one of the second's type.
  const parts = name === 'SimpleAggregateFunction' ? inside.slice(1) : inside
  const isNamed = name === 'Tuple' || name === 'Nested'
  const elements = parts.map((part) => (isNamed ? splitName(part) : { elementName: null, type: part }))
  return {
    name,
    elements: elements.map(({ type }) => parseColumnType(type)),
    elementNames: elements.map(({ elementName }) => elementName),
  }
}

/** The type beneath Nullable, LowCardinality and SimpleAggregateFunction, which change nothing about the values. */
export function bareType(type: ColumnType): ColumnType {
  const [inner] = type.elements
  const isCover =
    type.name === 'Nullable' || type.name === 'LowCardinality' || type.name === 'SimpleAggregateFunction'
  return isCover && inner ? bareType(inner) : type
}

/** The interface's word for a type (SQ-4). */
export function toWireType(type: ColumnType): WireType {
  const { name } = bareType(type)
  if (/^(U?Int\d+|B?Float\d+|Decimal\d*|Interval\w+)$/.test(name)) return 'NUMBER'
  if (/^(Date|Date32|DateTime|DateTime32|DateTime64)$/.test(name)) return 'TIME'
  switch (name) {
    case 'Bool':
      return 'BOOLEAN'
    case 'Array':
    case 'Nested':
    case 'Ring':
    case 'Polygon':
    case 'MultiPolygon':
    case 'LineString':
    case 'MultiLineString':
      return 'LIST'
    case 'Tuple':
      return bareType(type).elementNames.some((elementName) => elementName !== null) ? 'JSON' : 'LIST'
    case 'Point':
      return 'LIST'
    case 'Map':
      return 'MAP'
    case 'JSON':
    case 'Object':
      return 'JSON'
    case 'Dynamic':
    case 'Variant':
      return 'DYNAMIC'
    default:
      return 'STRING'
  }
}

/** Splits at the commas that stand in no inner parentheses, quotes or back-ticks. */
function splitArguments(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (quote !== '') {
      if (letter === '\\') at++
      else if (letter === quote) quote = ''
    } else if (letter === "'" || letter === '`') quote = letter
    else if (letter === '(') depth++
    else if (letter === ')') depth--
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  if (text.trim() !== '') parts.push(text.slice(start).trim())
  return parts
}

/** `a Int64` or `` `a b` Int64 `` as name and type; a type alone has no name. */
function splitName(part: string): { readonly elementName: string | null; readonly type: string } {
  const match = /^(`(?:\\.|[^`\\])*`|[A-Za-z_]\w*)\s+(\S.*)$/s.exec(part)
  if (!match) return { elementName: null, type: part }
  const name = match[1] ?? ''
  return {
    elementName: name.startsWith('`') ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1') : name,
    type: match[2] ?? '',
  }
}
