import { parseColumnType, toWireType, type ColumnType, type WireType } from './column-type.ts'

/** A column of an answer. */
export interface Column {
  /** Unique within the answer. */
  readonly name: string
  readonly wireType: WireType
}

/** The columns of a result, and their types as the engine gives them. */
export function readColumns(
  names: readonly string[],
  types: readonly string[],
): { readonly columns: readonly Column[]; readonly types: readonly ColumnType[] } {
  const parsed = types.map(parseColumnType)
  const unique = uniqueNames(names)
  const columns = parsed.map((type, n) => ({ name: unique[n] ?? '', wireType: toWireType(type) }))
  return { columns, types: parsed }
}

/** Rows are objects, so a name that comes again is numbered (SQ-4). */
function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map((name) => {
    let own = name
    for (let n = 2; seen.has(own) || (own !== name && taken.has(own)); n++) own = `${name}_${n}`
    seen.add(own)
    return own
  })
}
