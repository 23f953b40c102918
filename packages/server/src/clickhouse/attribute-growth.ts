import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import type { Attribute, AttributeKind, AttributeRow } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { MAX_FAULTS, type Fault } from '../ingest/refused-records.ts'
import type { AttributeTables } from './attribute-tables.ts'
import type { VersionSchema } from './fact-store-schema.ts'

/** What a table lacks for a batch. */
export interface Growth {
  readonly name: string
  readonly isNew: boolean
  readonly added: ReadonlyMap<string, AttributeKind>
  /** Attributes whose integers are to have no sign, so that they reach 2^256 - 1, with the record that needs it. */
  readonly unsigned: ReadonlyMap<string, number>
  /** The first record of the table. */
  readonly firstIndex: number
}

/** What the tables lack for the rows. Adds a fault for every value that no growth makes room for. */
export function findGrowth(
  { known, signed }: VersionSchema,
  tables: AttributeTables,
  rows: ReadonlyMap<string, readonly AttributeRow[]>,
  limits: IngestLimits,
  faults: Fault[],
): readonly Growth[] {
  return [...rows].flatMap(([name, ofName]) => {
    const attributes = known[tables.noun].get(name)
    const kinds = missingKinds(`${tables.noun} ${name}`, attributes ?? new Map(), ofName, faults)
    if (attributes && kinds.size === 0) return []
    const added = new Map([...kinds].filter(([attribute]) => !attributes?.has(attribute)))
    const unsigned = new Map(
      [...kinds.keys()]
        .filter((attribute) => !added.has(attribute))
        .map((attribute) => [attribute, firstUnsigned(ofName, attribute)]),
    )
    for (const [attribute, index] of unsigned) {
      if (signed.has(signKey(tables.tableOf(name), attribute))) faults.push(hasSign(name, attribute, index))
    }
    faultOfCount(tables.noun, name, attributes?.size ?? 0, added, ofName, limits, faults)
    return [{ name, isNew: !attributes, added, unsigned, firstIndex: ofName[0]?.index ?? 0 }]
  })
}

/** The fault of an integer beyond 2^255 - 1 beside negative ones: no number of the engine holds both. */
export function hasSign(name: string, attribute: string, index: number): Fault {
  return {
    index,
    field: `attributes.${attribute}`,
    message: `of ${name} holds negative integers; integers beyond 2^255 - 1 need an attribute without any`,
  }
}

/** Tells the attribute of a table in a set of texts. */
export function signKey(table: string, attribute: string): string {
  return `${table}\n${attribute}`
}

function firstUnsigned(rows: readonly AttributeRow[], attribute: string): number {
  return rows.find(({ attributes }) => attributes.get(attribute)?.kind === 'uint')?.index ?? 0
}

function faultOfCount(
  noun: AttributeTables['noun'],
  name: string,
  present: number,
  added: ReadonlyMap<string, AttributeKind>,
  rows: readonly AttributeRow[],
  { maxAttributes }: IngestLimits,
  faults: Fault[],
): void {
  if (added.size === 0 || present + added.size <= maxAttributes) return
  const excess = new Set([...added.keys()].slice(Math.max(0, maxAttributes - present)))
  const message = `would give the ${noun} ${name} more than ${maxAttributes} attributes; send a nested object instead`
  for (const { index, attributes } of rows) {
    for (const attribute of attributes.keys()) {
      if (!excess.has(attribute)) continue
      faults.push({ index, field: `attributes.${attribute}`, message })
      break
    }
  }
}

/** Attributes that the table does not have yet, each of the kind it is first sent in, and those that need more than `int`. */
function missingKinds(
  of: string,
  known: ReadonlyMap<string, AttributeKind>,
  rows: readonly AttributeRow[],
  faults: Fault[],
): ReadonlyMap<string, AttributeKind> {
  const missing = new Map<string, AttributeKind>()
  let losesSign = false
  for (const { index, attributes } of rows) {
    if (faults.length >= MAX_FAULTS) break
    for (const [attribute, value] of attributes) {
      const kind = missing.get(attribute) ?? known.get(attribute)
      if (kind === value.kind) continue
      if (kind === undefined) missing.set(attribute, value.kind)
      else if (kind === 'int' && value.kind === 'uint') {
        missing.set(attribute, 'uint')
        losesSign = true
      } else if (coerceAttribute(value, kind) === undefined)
        faults.push(changedKind(of, index, attribute, value, kind))
    }
  }
  if (losesSign) checkAgain(of, missing, rows, faults)
  return missing
}

/** Rows that came before the one that took the sign away must do without it too. */
function checkAgain(
  of: string,
  kinds: ReadonlyMap<string, AttributeKind>,
  rows: readonly AttributeRow[],
  faults: Fault[],
): void {
  const told = new Set(faults.map(({ index }) => index))
  for (const { index, attributes } of rows) {
    if (told.has(index)) continue
    for (const [attribute, value] of attributes) {
      const kind = kinds.get(attribute)
      if (kind === 'uint' && coerceAttribute(value, kind) === undefined) {
        faults.push(changedKind(of, index, attribute, value, kind))
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
): Fault {
  const message =
    was === 'uint' && value.kind === 'int'
      ? `is negative, but the attribute ${attribute} of the ${of} holds integers beyond 2^255 - 1, which leave no room for a sign`
      : `is ${value.kind}, but the attribute ${attribute} of the ${of} is ${was}`
  return { index, field: `attributes.${attribute}`, message, facts: { was, is: value.kind } }
}
