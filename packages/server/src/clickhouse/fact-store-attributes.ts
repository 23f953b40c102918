import type { AttributeKind, AttributeRow, Batch } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { AttributeTables } from './attribute-tables.ts'
import type { FactEngine } from './fact-engine.ts'
import { findGrowth, signKey, type Growth } from './attribute-growth.ts'
import { checkNameIsFree } from './fact-store-names.ts'
import { readKnownTables, type VersionSchema } from './fact-store-schema.ts'
import { shortenedName } from './fact-store-series.ts'
import { loseSign } from './lose-sign.ts'
import { ATTRIBUTE_COLUMN_TYPES, quoteIdentifier, quoteString, userView } from './layout.ts'

/**
 * Makes and grows the tables of a batch's event logs or entities. Returns warnings. Throws `invalid_argument` for an attribute that
 * changed its kind, a name that something else has, or too many tables or attributes.
 */
export async function prepareAttributes(
  engine: FactEngine,
  schema: VersionSchema,
  tables: AttributeTables,
  batch: Batch,
  limits: IngestLimits,
): Promise<readonly string[]> {
  const rows = tables.rowsOf(batch)
  if (rows.size === 0) return []
  const warnings: string[] = []
  // Everything is checked before anything is made, so that a refused batch leaves no trace.
  if (findGrowth(schema, tables, rows, limits).length > 0) {
    await refresh(engine, schema)
    // Another instance may make the same attributes at the same time, of other kinds: what came of it is checked again.
    for (;;) {
      const growth = findGrowth(schema, tables, rows, limits)
      if (growth.length === 0) break
      const added = growth.filter(({ isNew }) => isNew).map(({ name }) => name)
      checkNewNames(schema, tables, added, limits)
      for (const each of growth) await grow(engine, schema, tables, each)
      await refresh(engine, schema)
      for (const { name } of growth) await show(engine, schema, tables, name)
      warnings.push(...added.filter((name) => userView(name) !== name).map(shortenedName))
    }
  }
  rememberSigns(schema, tables, rows)
  return warnings
}

function checkNewNames(
  schema: VersionSchema,
  tables: AttributeTables,
  names: readonly string[],
  limits: IngestLimits,
): void {
  for (const name of names) {
    for (const shown of tables.shownNames(name)) checkNameIsFree(schema, shown, tables.noun)
    if (tables.noun === 'entity') checkNoEntityIsCalled(schema, tables, name)
  }
  const count = schema.known[tables.noun].size + names.length
  if (names.length > 0 && count > limits[tables.limit]) {
    throw invalidArgument(
      `a project has at most ${limits[tables.limit]} ${tables.plural}; ${names[0]} would be one more`,
    )
  }
}

/** The history of a new entity cannot have the name of an entity that is there. */
function checkNoEntityIsCalled(schema: VersionSchema, tables: AttributeTables, name: string): void {
  const taken = tables.shownNames(name).find((shown) => schema.known[tables.noun].has(shown))
  if (taken === undefined) return
  throw invalidArgument(
    `the entity ${name} needs the name ${taken} for its history, which is an entity already`,
  )
}

/** Reads what other instances have made meanwhile. */
async function refresh(engine: FactEngine, { databases, known }: VersionSchema): Promise<void> {
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
  for (const attribute of unsigned) await loseSign(engine, facts, { table, attribute, name })
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
    for (const view of tables.views(schema.databases, name, [...attributes.keys()]))
      await engine.command(view)
    shown = present
    await refresh(engine, schema)
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
