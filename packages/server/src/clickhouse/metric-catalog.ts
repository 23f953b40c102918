import { MAX_LABEL_VALUES, type MetricCatalog, type MetricDescription } from '../metrics/metric-catalog.ts'
import type { MetricType } from '../metrics/series-source.ts'
import type { FactEngine, StatementOptions } from './fact-engine.ts'
import { selectMetadata, type MetadataRow } from './fact-store-metadata.ts'
import { versionDatabases } from './layout.ts'
import { hasEngineCode } from './series-source-find.ts'
import { HOURLY_HISTORY } from './series-source-rollup.ts'

interface LabelRow {
  readonly metric: string
  readonly type: MetricType
  readonly label: string
  readonly values: readonly string[]
  readonly seriesCount: string
}

/** Lists metrics from the table of series; the time of the last sample comes from the hours of `points`. */
export function createMetricCatalog(engine: FactEngine): MetricCatalog {
  return {
    list: async ({ projectId, version, name }, signal) => {
      const options: StatementOptions = {
        database: versionDatabases(projectId, version).facts,
        signal,
        ...(name === null ? {} : { parameters: { name } }),
      }
      try {
        return await readMetrics(engine, name === null ? '1' : 'metric = {name:String}', options)
      } catch (error) {
        if (hasEngineCode(error, 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE')) return []
        throw error
      }
    },
  }
}

async function readMetrics(
  engine: FactEngine,
  condition: string,
  options: StatementOptions,
): Promise<readonly MetricDescription[]> {
  const [labels, seen, said] = await Promise.all([
    engine.rows<LabelRow>(
      `select metric, any(type) as type, pair.1 as label,
         arraySort(groupUniqArray(${MAX_LABEL_VALUES})(pair.2)) as values, uniqExact(series_id) as seriesCount
       from (
         select metric, type, series_id, arrayJoin(arrayConcat([('', '')], CAST(labels, 'Array(Tuple(String, String))'))) as pair
         from series where ${condition}
       )
       group by metric, label order by metric, label`,
      options,
    ),
    engine.rows<{ metric: string; lastMicros: string }>(
      `select metric, ${HOURLY_HISTORY.lastAt} as lastMicros from points where ${condition} group by metric`,
      options,
    ),
    engine.rows<MetadataRow>(selectMetadata(condition), options).catch(noneBefore),
  ])
  const metadata = new Map(said.map((row) => [row.metric, row]))
  const lastMicros = new Map(seen.map((row) => [row.metric, Number(row.lastMicros)]))
  return Array.from(
    Map.groupBy(labels, ({ metric }) => metric),
    ([name, rows]) => {
      const micros = lastMicros.get(name)
      return {
        name,
        type: rows[0]?.type ?? 'gauge',
        unit: metadata.get(name)?.unit ?? '',
        help: metadata.get(name)?.help ?? '',
        labels: new Map(rows.filter(({ label }) => label !== '').map(({ label, values }) => [label, values])),
        seriesCount: Number(rows[0]?.seriesCount ?? 0),
        lastSeenAt: micros === undefined ? null : Math.floor(micros / 1000),
      }
    },
  )
}

/** A version that nothing was sent to since earlier builds has no table of it. */
function noneBefore(error: unknown): readonly MetadataRow[] {
  if (hasEngineCode(error, 'UNKNOWN_TABLE')) return []
  throw error
}
