import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import type { Attribute, AttributeKind, AttributeRow } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { invalidArgument, type ServiceError } from '../platform/errors.ts'
import type { AttributeTables } from './attribute-tables.ts'
import type { VersionSchema } from './fact-store-schema.ts'

/** What a table lacks for a batch. */
export interface Growth {
  readonly name: string
  readonly isNew: boolean
  readonly added: ReadonlyMap<string, AttributeKind>
  /** Attributes whose integers are to have no sign, so that they reach 2^256 - 1. */
  readonly unsigned: readonly string[]
}

/** What the tables lack for the rows. Throws `invalid_argument` for values that no growth makes room for. */
export function findGrowth(
  { known, signed }: VersionSchema,
  tables: AttributeTables,
  rows: ReadonlyMap<string, readonly AttributeRow[]>,
  limits: IngestLimits,
): readonly Growth[] {
  return [...rows].flatMap(([name, ofName]) => {
    const attributes = known[tables.noun].get(name)
    const kinds = missingKinds(`${tables.noun} ${name}`, attributes ?? new Map(), ofName)
    if (attributes && kinds.size === 0) return []
    const added = new Map([...kinds].filter(([attribute]) => !attributes?.has(attribute)))
    const unsigned = [...kinds.keys()].filter((attribute) => !added.has(attribute))
    for (const attribute of unsigned) {
      if (signed.has(signKey(tables.tableOf(name), attribute))) throw hasSign(name, attribute)
    }
    if (added.size > 0 && (attributes?.size ?? 0) + added.size > limits.maxAttributes) {
      throw invalidArgument(
        `the ${tables.noun} ${name} would have more than ${limits.maxAttributes} attributes; send a nested object instead`,
      )
    }
    return [{ name, isNew: !attributes, added, unsigned }]
  })
}

/** The refusal of an integer beyond 2^255 - 1 beside negative ones: no number of the engine holds both. */
export function hasSign(name: string, attribute: string): ServiceError {
  return invalidArgument(
    `attributes.${attribute} of ${name} holds negative integers; integers beyond 2^255 - 1 need an attribute without any`,
  )
}

/** Tells the attribute of a table in a set of texts. */
export function signKey(table: string, attribute: string): string {
  return `${table}\n${attribute}`
}

/** Attributes that the table does not have yet, each of the kind it is first sent in, and those that need more than `int`. */
function missingKinds(
  of: string,
  known: ReadonlyMap<string, AttributeKind>,
  rows: readonly AttributeRow[],
): ReadonlyMap<string, AttributeKind> {
  const missing = new Map<string, AttributeKind>()
  let losesSign = false
  for (const { index, attributes } of rows) {
    for (const [attribute, value] of attributes) {
      const kind = missing.get(attribute) ?? known.get(attribute)
      if (kind === value.kind) continue
      if (kind === undefined) missing.set(attribute, value.kind)
      else if (kind === 'int' && value.kind === 'uint') {
        missing.set(attribute, 'uint')
        losesSign = true
      } else if (coerceAttribute(value, kind) === undefined)
        throw changedKind(of, index, attribute, value, kind)
    }
  }
  if (losesSign) checkAgain(of, missing, rows)
  return missing
}

/** Rows that came before the one that took the sign away must do without it too. */
function checkAgain(
  of: string,
  kinds: ReadonlyMap<string, AttributeKind>,
  rows: readonly AttributeRow[],
): void {
  for (const { index, attributes } of rows) {
    for (const [attribute, value] of attributes) {
      const kind = kinds.get(attribute)
      if (kind === 'uint' && coerceAttribute(value, kind) === undefined) {
        throw changedKind(of, index, attribute, value, kind)
      }
    }
  }
}

function changedKind(
  of: string,
  index: number,
  attribute: string,
  value: Attribute,
  was: AttributeKind,
): ServiceError {
  const reason =
    was === 'uint' && value.kind === 'int'
      ? `is negative, but the attribute ${attribute} of the ${of} holds integers beyond 2^255 - 1, which leave no room for a sign`
      : `is ${value.kind}, but the attribute ${attribute} of the ${of} is ${was}`
  return invalidArgument(`records[${index}]: attributes.${attribute} ${reason}`, [
    { index, field: `attributes.${attribute}`, was, is: value.kind },
  ])
}
