import type { Batch, MetricType, Series } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { MAX_FAULTS, refuseIfAny, type Fault } from '../ingest/refused-records.ts'
import type { FactEngine } from './fact-engine.ts'
import { readMetrics, type VersionSchema } from './fact-store-schema.ts'
import { whyNameIsTaken } from './fact-store-names.ts'
import { metricView, userView } from './layout.ts'

/** So many ids of series are remembered as stored; the memory starts afresh beyond it. */
const MAX_KNOWN_SERIES = 1_000_000

/** What a batch has that is not stored yet. */
export interface NewSeries {
  readonly byMetric: ReadonlyMap<string, readonly Series[]>
  readonly metrics: readonly string[]
}

/**
 * Finds the series of a batch that are not stored yet. Adds a fault for every sample of a metric that has the other type, of a name that
 * something else has, and of a metric or series beyond the limits. Nothing is stored.
 */
export async function checkSeries(
  engine: FactEngine,
  schema: VersionSchema,
  batch: Batch,
  limits: IngestLimits,
  faults: Fault[],
): Promise<NewSeries> {
  if (schema.knownSeries.size > MAX_KNOWN_SERIES) schema.knownSeries.clear()
  const reasons: Reasons = new Map()
  const unknown = [...batch.series].filter(({ id }) => !schema.knownSeries.has(id))
  const byMetric = Map.groupBy(unknown, ({ metric }) => metric)
  // Another instance may have made one of them meanwhile, with the other type.
  const metrics = await findNewMetrics(engine, schema, [...byMetric.keys()])
  for (const [metric, series] of byMetric) await checkCount(engine, schema, metric, series, limits, reasons)
  checkNewMetrics(schema, metrics, byMetric, limits, reasons)
  // Last: of several reasons it tells most.
  checkTypes(schema, batch.series, reasons)
  if (reasons.size > 0) faults.push(...faultsOf(batch, reasons))
  return { byMetric, metrics }
}

/** Are the samples of a batch all of series that are stored, as what they are stored? */
export function hasOnlyKnownSeries({ metrics, knownSeries }: VersionSchema, batch: Batch): boolean {
  for (const { id, metric, type } of batch.series) {
    if (!knownSeries.has(id) || metrics.get(metric)?.type !== type) return false
  }
  return true
}

/** Stores new series, which were checked, and shows new metrics to SQL users. Returns warnings. */
export async function storeSeries(
  engine: FactEngine,
  schema: VersionSchema,
  batch: Batch,
  { byMetric, metrics }: NewSeries,
): Promise<readonly string[]> {
  if (byMetric.size === 0) return []
  for (const metric of metrics) {
    const [first] = byMetric.get(metric) ?? []
    if (!first) continue
    const claimed = await claimType(engine, schema, first)
    if (claimed !== first.type) {
      refuseIfAny(faultsOf(batch, new Map([[first, otherType(first, claimed)]])))
    }
  }
  await insertSeries(engine, schema, [...byMetric.values()].flat())
  remember(schema, byMetric)
  return metrics.filter((metric) => userView(metric) !== metric).map(shortenedName)
}

/** Why samples of a series are refused: the field and what is wrong with it. */
type Reasons = Map<Series, Pick<Fault, 'field' | 'message'>>

function faultsOf({ samples }: Batch, reasons: Reasons): readonly Fault[] {
  const faults: Fault[] = []
  for (const { series, index } of samples) {
    const reason = reasons.get(series)
    if (reason) faults.push({ index, ...reason })
    if (faults.length === MAX_FAULTS) break
  }
  return faults
}

/** The warning about a name that is too long for a table. */
export function shortenedName(name: string): string {
  return `the name ${name.slice(0, 32)}… is too long for a table; in SQL it is ${userView(name)}`
}

function checkTypes(schema: VersionSchema, series: ReadonlySet<Series>, reasons: Reasons): void {
  const types = new Map<string, MetricType>()
  for (const each of series) {
    const { metric, type } = each
    const known = schema.metrics.get(metric)?.type ?? types.get(metric) ?? type
    types.set(metric, known)
    if (known !== type) reasons.set(each, otherType(each, known))
  }
}

function otherType({ metric, type }: Series, known: MetricType) {
  return { field: 'type', message: `the metric ${metric} is a ${known}; it cannot be a ${type} too` }
}

/** Shows a new metric to SQL users, and returns its type: that of another instance, if one has made it at the same time. */
async function claimType(
  engine: FactEngine,
  { databases }: VersionSchema,
  { metric, type }: Series,
): Promise<MetricType> {
  await engine.command(metricView(databases, metric, type, true))
  const [view] = await engine.rows<{ comment: string }>(
    `select comment from system.tables where database = {user:String} and name = {name:String}`,
    { parameters: { user: databases.user, name: userView(metric) } },
  )
  const claimed = view?.comment
  return claimed === 'counter' || claimed === 'gauge' ? claimed : type
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

function checkNewMetrics(
  schema: VersionSchema,
  metrics: readonly string[],
  byMetric: NewSeries['byMetric'],
  { maxMetrics }: IngestLimits,
  reasons: Reasons,
): void {
  const room = maxMetrics - schema.metrics.size
  for (const [count, metric] of metrics.entries()) {
    const message =
      whyNameIsTaken(schema, metric, 'metric') ??
      (count >= room
        ? `${metric} would be one more than the ${maxMetrics} metrics that a project has at most`
        : null)
    if (message === null) continue
    for (const series of byMetric.get(metric) ?? []) reasons.set(series, { field: 'name', message })
  }
}

/** Counts exactly only when the limit comes into reach: series that exist never break by it. */
async function checkCount(
  engine: FactEngine,
  schema: VersionSchema,
  metric: string,
  unknown: readonly Series[],
  { maxSeriesPerMetric }: IngestLimits,
  reasons: Reasons,
): Promise<void> {
  const known = schema.metrics.get(metric)?.seriesCount ?? 0
  if (known + unknown.length <= maxSeriesPerMetric) return
  const [row] = await engine.rows<{ total: string; existing: readonly string[] }>(
    `select uniqExact(series_id) as total, groupUniqArrayIf(toString(series_id), series_id in {ids:Array(UInt64)}) as existing
     from series where metric = {metric:String}`,
    {
      database: schema.databases.facts,
      parameters: { metric, ids: unknown.map(({ id }) => BigInt(id)) },
    },
  )
  const existing = new Set(row?.existing)
  const room = maxSeriesPerMetric - Number(row?.total ?? 0)
  const message = `would give the metric ${metric} more than ${maxSeriesPerMetric} series (label sets); remove labels that have a new value every time`
  const added = unknown.filter(({ id }) => !existing.has(id))
  for (const series of added.slice(Math.max(0, room))) reasons.set(series, { field: 'labels', message })
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
