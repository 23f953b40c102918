import type { MetricType, Series } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { invalidArgument, type ServiceError } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'
import { readMetrics, type VersionSchema } from './fact-store-schema.ts'
import { checkNameIsFree } from './fact-store-names.ts'
import { metricView, userView } from './layout.ts'

/** So many ids of series are remembered as stored; the memory starts afresh beyond it. */
const MAX_KNOWN_SERIES = 1_000_000

/**
 * Stores the series of a batch that are not stored yet, and shows new metrics to SQL users. Returns warnings. Throws `invalid_argument` for
 * a metric that has the other type, a name that an event log has, or too many metrics or series.
 */
export async function prepareSeries(
  engine: FactEngine,
  schema: VersionSchema,
  series: ReadonlySet<Series>,
  limits: IngestLimits,
): Promise<readonly string[]> {
  if (schema.knownSeries.size > MAX_KNOWN_SERIES) schema.knownSeries.clear()
  checkTypes(schema, series)
  const unknown = [...series].filter(({ id }) => !schema.knownSeries.has(id))
  if (unknown.length === 0) return []
  const byMetric = Map.groupBy(unknown, ({ metric }) => metric)
  const newMetrics = await findNewMetrics(engine, schema, [...byMetric.keys()])
  // Another instance may have made one of them meanwhile, with the other type.
  checkTypes(schema, series)
  checkNewMetrics(schema, newMetrics, limits)
  for (const [metric, ofMetric] of byMetric) await checkCount(engine, schema, metric, ofMetric, limits)
  for (const metric of newMetrics) await claimType(engine, schema, metric, byMetric.get(metric)?.[0]?.type)
  await insertSeries(engine, schema, unknown)
  remember(schema, byMetric)
  return newMetrics.filter((metric) => userView(metric) !== metric).map(shortenedName)
}

/** The warning about a name that is too long for a table. */
export function shortenedName(name: string): string {
  return `the name ${name.slice(0, 32)}… is too long for a table; in SQL it is ${userView(name)}`
}

function checkTypes(schema: VersionSchema, series: ReadonlySet<Series>): void {
  const types = new Map<string, string>()
  for (const { metric, type } of series) {
    const known = schema.metrics.get(metric)?.type ?? types.get(metric)
    types.set(metric, known ?? type)
    if (known !== undefined && known !== type) throw otherType(metric, known, type)
  }
}

function otherType(metric: string, known: string, type: MetricType): ServiceError {
  return invalidArgument(`the metric ${metric} is a ${known}; it cannot be a ${type} too`)
}

/** Shows a new metric to SQL users, unless another instance has made it with the other type at the same time. */
async function claimType(
  engine: FactEngine,
  { databases }: VersionSchema,
  metric: string,
  type: MetricType = 'gauge',
): Promise<void> {
  await engine.command(metricView(databases, metric, type, true))
  const [view] = await engine.rows<{ comment: string }>(
    `select comment from system.tables where database = {user:String} and name = {name:String}`,
    { parameters: { user: databases.user, name: userView(metric) } },
  )
  const claimed = view?.comment
  if ((claimed === 'counter' || claimed === 'gauge') && claimed !== type)
    throw otherType(metric, claimed, type)
}

async function findNewMetrics(
  engine: FactEngine,
  schema: VersionSchema,
  metrics: readonly string[],
): Promise<readonly string[]> {
  const unseen = metrics.filter((metric) => !schema.metrics.has(metric))
  if (unseen.length === 0) return []
  const stored = await readMetrics(engine, schema.databases, unseen)
  for (const [metric, known] of stored) schema.metrics.set(metric, known)
  return unseen.filter((metric) => !stored.has(metric))
}

function checkNewMetrics(schema: VersionSchema, metrics: readonly string[], limits: IngestLimits): void {
  for (const metric of metrics) {
    checkNameIsFree(schema, metric, 'metric')
  }
  if (schema.metrics.size + metrics.length > limits.maxMetrics) {
    throw invalidArgument(
      `a project has at most ${limits.maxMetrics} metrics; ${metrics[0]} would be one more`,
    )
  }
}

/** Counts exactly only when the limit comes into reach: series that exist never break by it. */
async function checkCount(
  engine: FactEngine,
  schema: VersionSchema,
  metric: string,
  unknown: readonly Series[],
  { maxSeriesPerMetric }: IngestLimits,
): Promise<void> {
  const known = schema.metrics.get(metric)?.seriesCount ?? 0
  if (known + unknown.length <= maxSeriesPerMetric) return
  const [row] = await engine.rows<{ total: string; existing: string }>(
    `select uniqExact(series_id) as total, uniqExactIf(series_id, series_id in {ids:Array(UInt64)}) as existing
     from series where metric = {metric:String}`,
    {
      database: schema.databases.facts,
      parameters: { metric, ids: unknown.map(({ id }) => BigInt(id)) },
    },
  )
  const added = unknown.length - Number(row?.existing ?? 0)
  if (added > 0 && Number(row?.total ?? 0) + added > maxSeriesPerMetric) {
    throw invalidArgument(
      `the metric ${metric} would have more than ${maxSeriesPerMetric} series (label sets); remove labels that have a new value every time`,
    )
  }
}

async function insertSeries(
  engine: FactEngine,
  schema: VersionSchema,
  series: readonly Series[],
): Promise<void> {
  const lines = series.map(({ metric, id, type, labels }) =>
    JSON.stringify([metric, id, type, labels['chain'] ?? '', labels]),
  )
  await engine.insert({
    database: schema.databases.facts,
    table: 'series',
    columns: ['metric', 'series_id', 'type', 'chain', 'labels'],
    format: 'JSONCompactEachRow',
    rows: Buffer.from(lines.join('\n')),
  })
}

function remember(schema: VersionSchema, byMetric: ReadonlyMap<string, readonly Series[]>): void {
  for (const [metric, series] of byMetric) {
    const [first] = series
    if (!first) continue
    const known = schema.metrics.get(metric) ?? { type: first.type, seriesCount: 0 }
    known.seriesCount += series.length
    schema.metrics.set(metric, known)
    for (const { id } of series) schema.knownSeries.add(id)
  }
}
