import {
  ATTRIBUTE_KINDS,
  type AttributeKind,
  type MetricMetadata,
  type MetricType,
  type ProjectVersion,
} from '../ingest/batch.ts'
import { ATTRIBUTE_TABLES, type AttributeTables, type KnownTables } from './attribute-tables.ts'
import type { FactEngine } from './fact-engine.ts'
import { createMetadataTable, readMetadata } from './fact-store-metadata.ts'
import { endSignLosses } from './lose-sign.ts'
import {
  ATTRIBUTE_COLUMN_TYPES,
  commentOf,
  DURABLE,
  EVENT_BATCH_COLUMN,
  factTables,
  hoursOnMerge,
  metricView,
  quoteIdentifier,
  userView,
  versionDatabases,
  type VersionDatabases,
} from './layout.ts'

/** What is known of one metric. `seriesCount` may be too high by series that were counted twice. */
export interface KnownMetric {
  readonly type: MetricType
  seriesCount: number
}

/** What the engine holds of one processor version: the types that new records must agree with. */
export interface VersionSchema {
  readonly databases: VersionDatabases
  readonly metrics: Map<string, KnownMetric>
  /** What senders said of metrics, as far as this process knows. */
  readonly metadata: Map<string, MetricMetadata>
  /** The event logs and entities, with their attributes. */
  readonly known: KnownTables
  /** Attributes that a batch of this process had a negative value for, as table and column: they cannot lose their sign. */
  readonly signed: Set<string>
  /** Ids of series that are stored for certain. */
  readonly knownSeries: Set<string>
}

/** Makes the databases and tables of a version where they are missing, and reads what they hold. */
export async function loadSchema(engine: FactEngine, version: ProjectVersion): Promise<VersionSchema> {
  const databases = versionDatabases(version.projectId, version.version)
  for (const database of [databases.facts, databases.user]) {
    await engine.command(`create database if not exists ${quoteIdentifier(database)}`)
  }
  for (const table of factTables(databases.facts)) await engine.command(table)
  await engine.command(createMetadataTable(databases.facts))
  if (await makesHoursOnMerge(engine)) await engine.command(hoursOnMerge(databases.facts))
  await makeDurable(engine, databases.facts)
  await endSignLosses(engine, databases.facts)
  const schema: VersionSchema = {
    databases,
    metrics: await readMetrics(engine, databases),
    metadata: await readMetadata(engine, databases.facts),
    known: await readKnownTables(engine, databases),
    signed: new Set(),
    knownSeries: new Set(),
  }
  await restoreViews(engine, schema)
  return schema
}

/** Tables of earlier builds wait for the disk after inserts only. */
async function makeDurable(engine: FactEngine, facts: string): Promise<void> {
  const rows = await engine.rows<{ name: string }>(
    `select name from system.tables where database = {facts:String} and endsWith(engine, 'MergeTree')
     and position(create_table_query, 'min_rows_to_fsync_after_merge') = 0`,
    { parameters: { facts } },
  )
  for (const { name } of rows) {
    const table = `${quoteIdentifier(facts)}.${quoteIdentifier(name)}`
    await engine.command(`alter table ${table} modify setting ${DURABLE}`)
  }
}

/** Engines before 26 have neither setting, or one of the two. */
async function makesHoursOnMerge(engine: FactEngine): Promise<boolean> {
  const known = await engine.rows<{ name: string }>(
    `select name from system.merge_tree_settings where name in ('materialize_projections_on_insert', 'materialize_projections_on_merge')`,
  )
  return known.length === 2
}

/** The type and number of series of metrics: of all, or of the ones named. */
export async function readMetrics(
  engine: FactEngine,
  { facts }: VersionDatabases,
  names?: readonly string[],
): Promise<Map<string, KnownMetric>> {
  const rows = await engine.rows<{ metric: string; type: MetricType; count: string }>(
    `select metric, any(type) as type, uniqExact(series_id) as count from series
     ${names ? 'where metric in {names:Array(String)}' : ''} group by metric`,
    { database: facts, ...(names ? { parameters: { names } } : {}) },
  )
  return new Map(rows.map(({ metric, type, count }) => [metric, { type, seriesCount: Number(count) }]))
}

/** Attributes and kinds of all event logs and entities. */
export async function readKnownTables(engine: FactEngine, { facts }: VersionDatabases): Promise<KnownTables> {
  const tables = await engine.rows<{ name: string; comment: string }>(
    `select name, comment from system.tables where database = {facts:String} and comment != ''`,
    { parameters: { facts } },
  )
  const columns = await engine.rows<{ table: string; name: string; comment: string }>(
    `select table, name, comment from system.columns where database = {facts:String} and comment != '' order by position`,
    { parameters: { facts } },
  )
  const byTable = Map.groupBy(columns, ({ table }) => table)
  const known: KnownTables = { 'event log': new Map(), entity: new Map() }
  for (const { name, comment } of tables) {
    const sort = sortOf(name)
    if (!sort) continue
    const attributes = (byTable.get(name) ?? []).map(
      (column) => [column.name, toKind(column.comment)] as const,
    )
    known[sort.noun].set(comment, new Map(attributes))
  }
  return known
}

function sortOf(table: string): AttributeTables | undefined {
  return ATTRIBUTE_TABLES.find(({ prefix }) => table.startsWith(prefix))
}

function toKind(comment: string): AttributeKind {
  return ATTRIBUTE_KINDS.find((kind) => kind === comment) ?? 'string'
}

/** A crash between a table and its views leaves a view missing, without a new column, or with the type that one had. */
async function restoreViews(engine: FactEngine, { databases, metrics, known }: VersionSchema): Promise<void> {
  const rows = await engine.rows<{ table: string; name: string; type: string; comment: string }>(
    `select table, name, type, comment from system.columns where database = {user:String}`,
    { parameters: { user: databases.user } },
  )
  const shown = Map.groupBy(rows, ({ table }) => table)
  for (const [metric, { type }] of metrics) {
    if (!shown.has(userView(metric))) await engine.command(metricView(databases, metric, type))
  }
  for (const tables of ATTRIBUTE_TABLES) {
    for (const [name, attributes] of known[tables.noun]) {
      const isWhole = tables.shownNames(name).every((each) => {
        const columns = new Map((shown.get(userView(each)) ?? []).map((row) => [row.name, row]))
        return (
          columns.size >= tables.viewColumns + attributes.size &&
          [...attributes].every(([column, kind]) => {
            const { type, comment } = columns.get(column) ?? {}
            return type === ATTRIBUTE_COLUMN_TYPES[kind] && comment === commentOf(kind)
          })
        )
      })
      if (isWhole) continue
      for (const view of tables.views(databases, name, attributes)) await engine.command(view)
    }
  }
}

/** The column that names the batch of a row. */
export function batchColumn(table: string): string {
  return quoteIdentifier(table === 'points' ? 'batch' : EVENT_BATCH_COLUMN)
}

/** Tables that hold rows of batches: the samples, event logs and entities, as far as they exist. */
export async function tablesWithBatches(engine: FactEngine, facts: string): Promise<readonly string[]> {
  const rows = await engine.rows<{ name: string }>(
    `select name from system.tables where database = {facts:String}`,
    { parameters: { facts } },
  )
  return rows.map(({ name }) => name).filter((name) => name === 'points' || sortOf(name) !== undefined)
}
