import { ATTRIBUTE_KINDS, type AttributeKind, type MetricType, type ProjectVersion } from '../ingest/batch.ts'
import type { FactEngine } from './fact-engine.ts'
import {
  EVENT_BATCH_COLUMN,
  EVENT_COLUMNS,
  eventView,
  factTables,
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
  /** Attributes and their kinds by event log. */
  readonly eventLogs: Map<string, Map<string, AttributeKind>>
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
  const schema: VersionSchema = {
    databases,
    metrics: await readMetrics(engine, databases),
    eventLogs: await readEventLogs(engine, databases),
    knownSeries: new Set(),
  }
  await restoreViews(engine, schema)
  return schema
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

/** Attributes and kinds of all event logs. */
export async function readEventLogs(
  engine: FactEngine,
  { facts }: VersionDatabases,
): Promise<Map<string, Map<string, AttributeKind>>> {
  const tables = await engine.rows<{ name: string; comment: string }>(
    `select name, comment from system.tables where database = {facts:String} and startsWith(name, 'event_')`,
    { parameters: { facts } },
  )
  const columns = await engine.rows<{ table: string; name: string; comment: string }>(
    `select table, name, comment from system.columns where database = {facts:String} and comment != '' order by position`,
    { parameters: { facts } },
  )
  const byTable = Map.groupBy(columns, ({ table }) => table)
  return new Map(
    tables.map(({ name, comment }) => [
      comment,
      new Map((byTable.get(name) ?? []).map((column) => [column.name, toKind(column.comment)])),
    ]),
  )
}

function toKind(comment: string): AttributeKind {
  return ATTRIBUTE_KINDS.find((kind) => kind === comment) ?? 'string'
}

/** A crash between a table and its view leaves the view missing or without a new column. */
async function restoreViews(
  engine: FactEngine,
  { databases, metrics, eventLogs }: VersionSchema,
): Promise<void> {
  const rows = await engine.rows<{ table: string; name: string }>(
    `select table, name from system.columns where database = {user:String}`,
    { parameters: { user: databases.user } },
  )
  const shown = Map.groupBy(rows, ({ table }) => table)
  for (const metric of metrics.keys()) {
    if (!shown.has(userView(metric))) await engine.command(metricView(databases, metric))
  }
  for (const [name, attributes] of eventLogs) {
    const expected = Object.keys(EVENT_COLUMNS).length + attributes.size
    if (shown.get(userView(name))?.length !== expected) {
      await engine.command(eventView(databases, name, [...attributes.keys()]))
    }
  }
}

/** The column that names the batch of a row. */
export function batchColumn(table: string): string {
  return quoteIdentifier(table === 'points' ? 'batch' : EVENT_BATCH_COLUMN)
}

/** Tables that hold rows of batches: the samples and the event logs, as far as they exist. */
export async function tablesWithBatches(engine: FactEngine, facts: string): Promise<readonly string[]> {
  const rows = await engine.rows<{ name: string }>(
    `select name from system.tables where database = {facts:String} and (name = 'points' or startsWith(name, 'event_'))`,
    { parameters: { facts } },
  )
  return rows.map(({ name }) => name)
}
