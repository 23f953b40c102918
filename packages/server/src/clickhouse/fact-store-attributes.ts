import type { AttributeKind, AttributeRow, Batch } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { refuseIfAny, type Fault } from '../ingest/refused-records.ts'
import type { AttributeTables } from './attribute-tables.ts'
import type { FactEngine } from './fact-engine.ts'
import { findGrowth, hasSign, signKey, type Growth } from './attribute-growth.ts'
import { whyNameIsTaken } from './fact-store-names.ts'
import { readKnownTables, type VersionSchema } from './fact-store-schema.ts'
import { shortenedName } from './fact-store-series.ts'
import { holdsNegative, loseSign } from './lose-sign.ts'
import { ATTRIBUTE_COLUMN_TYPES, quoteIdentifier, quoteString, userView } from './layout.ts'

/**
 * Adds a fault for every attribute of a batch that changed its kind, name that something else has, and table or attribute beyond the limits.
 * Nothing is made.
 */
export async function checkAttributes(
  engine: FactEngine,
  schema: VersionSchema,
  tables: AttributeTables,
  batch: Batch,
  limits: IngestLimits,
  faults: Fault[],
): Promise<void> {
  const rows = tables.rowsOf(batch)
  if (rows.size === 0) return
  if (findGrowth(schema, tables, rows, limits, []).length > 0) await readAgain(engine, schema)
  const growth = findGrowth(schema, tables, rows, limits, faults)
  checkNewNames(schema, tables, growth, limits, faults)
  for (const { name, unsigned } of growth) {
    for (const [attribute, index] of unsigned) {
      const column = { table: tables.tableOf(name), attribute }
      if (await holdsNegative(engine, schema.databases.facts, column)) {
        faults.push(hasSign(name, attribute, index))
      }
    }
  }
}

/** Has every value of a batch a column of its kind? Then nothing has to grow. */
export function hasOnlyKnownAttributes(
  schema: VersionSchema,
  tables: AttributeTables,
  batch: Batch,
): boolean {
  const rows = tables.rowsOf(batch)
  for (const [name, ofName] of rows) {
    const kinds = schema.known[tables.noun].get(name)
    if (!kinds) return false
    for (const { attributes } of ofName) {
      for (const [attribute, { kind }] of attributes) if (kinds.get(attribute) !== kind) return false
    }
  }
  rememberSigns(schema, tables, rows)
  return true
}

/** Makes and grows the tables of a batch's event logs or entities, which was checked. Returns warnings. */
export async function growAttributes(
  engine: FactEngine,
  schema: VersionSchema,
  tables: AttributeTables,
  batch: Batch,
  limits: IngestLimits,
): Promise<readonly string[]> {
  const rows = tables.rowsOf(batch)
  if (rows.size === 0) return []
  const warnings: string[] = []
  // Another instance may make the same attributes at the same time, of other kinds: what came of it is checked again.
  for (;;) {
    const faults: Fault[] = []
    const growth = findGrowth(schema, tables, rows, limits, faults)
    refuseIfAny(faults)
    if (growth.length === 0) break
    for (const each of growth) await grow(engine, schema, tables, each)
    await readAgain(engine, schema)
    for (const { name } of growth) await show(engine, schema, tables, name)
    const added = growth.filter(({ isNew }) => isNew).map(({ name }) => name)
    warnings.push(...added.filter((name) => userView(name) !== name).map(shortenedName))
  }
  rememberSigns(schema, tables, rows)
  return warnings
}

function checkNewNames(
  schema: VersionSchema,
  tables: AttributeTables,
  growth: readonly Growth[],
  limits: IngestLimits,
  faults: Fault[],
): void {
  const added = growth.filter(({ isNew }) => isNew)
  const room = limits[tables.limit] - schema.known[tables.noun].size
  for (const [count, { name, firstIndex: index }] of added.entries()) {
    const message = whyNotNew(schema, tables, name)
    if (message !== null) faults.push({ index, field: 'name', message })
    else if (count >= room) {
      faults.push({
        index,
        field: 'name',
        message: `${name} would be one more than the ${limits[tables.limit]} ${tables.plural} that a project has at most`,
      })
    }
  }
}

function whyNotNew(schema: VersionSchema, tables: AttributeTables, name: string): string | null {
  for (const shown of tables.shownNames(name)) {
    const reason = whyNameIsTaken(schema, shown, tables.noun)
    if (reason !== null)
      return shown === name ? reason : `${name} has the history ${shown}; the name ${reason}`
  }
  if (tables.noun !== 'entity') return null
  // The history of a new entity cannot have the name of an entity that is there.
  const taken = tables.shownNames(name).find((shown) => schema.known.entity.has(shown))
  return taken === undefined
    ? null
    : `${name} needs the name ${taken} for its history, which is an entity already`
}

/** Reads what other instances have made meanwhile. */
async function readAgain(engine: FactEngine, { databases, known }: VersionSchema): Promise<void> {
  const found = await readKnownTables(engine, databases)
  for (const noun of Object.keys(found) as AttributeTables['noun'][]) {
    for (const [name, attributes] of found[noun]) known[noun].set(name, attributes)
  }
}

async function grow(
  engine: FactEngine,
  schema: VersionSchema,
  tables: AttributeTables,
  { name, isNew, added, unsigned }: Growth,
): Promise<void> {
  const { facts } = schema.databases
  const table = tables.tableOf(name)
  if (isNew) await engine.command(tables.create(facts, name))
  for (const [attribute, index] of unsigned) {
    const hasLost = await loseSign(engine, facts, { table, attribute })
    if (!hasLost) refuseIfAny([hasSign(name, attribute, index)])
  }
  if (added.size === 0) return
  const columns = [...added].map(
    ([attribute, kind]) =>
      `add column if not exists ${quoteIdentifier(attribute)} ${ATTRIBUTE_COLUMN_TYPES[kind]} comment ${quoteString(kind)} codec(ZSTD(1))`,
  )
  await engine.command(
    `alter table ${quoteIdentifier(facts)}.${quoteIdentifier(table)} ${columns.join(', ')}`,
  )
}

/** Shows SQL users every attribute. Repeated while others add some, so that the view written last is the fullest. */
async function show(
  engine: FactEngine,
  schema: VersionSchema,
  tables: AttributeTables,
  name: string,
): Promise<void> {
  for (let shown = ''; ;) {
    const attributes: ReadonlyMap<string, AttributeKind> = schema.known[tables.noun].get(name) ?? new Map()
    const present = JSON.stringify([...attributes])
    if (present === shown) return
    for (const view of tables.views(schema.databases, name, attributes)) await engine.command(view)
    shown = present
    await readAgain(engine, schema)
  }
}

/** What is accepted now is in no table yet when the next batch asks whether a column may lose its sign. */
function rememberSigns(
  { known, signed }: VersionSchema,
  tables: AttributeTables,
  rows: ReadonlyMap<string, readonly AttributeRow[]>,
): void {
  for (const [name, ofName] of rows) {
    const kinds = known[tables.noun].get(name)
    for (const { attributes } of ofName) {
      for (const [attribute, { json }] of attributes) {
        if (!json.startsWith('"-') && !json.startsWith('-')) continue
        if (kinds?.get(attribute) === 'int') signed.add(signKey(tables.tableOf(name), attribute))
      }
    }
  }
}
