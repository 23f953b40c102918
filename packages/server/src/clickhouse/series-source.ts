import type { LabelMatcher } from '../metrics/label-matcher.ts'
import type { Labels } from '../metrics/labels.ts'
import type {
  CellStatistic,
  MetricType,
  SeriesCells,
  SeriesPlan,
  SeriesReading,
  SeriesSource,
} from '../metrics/series-source.ts'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine, StatementOptions } from './fact-engine.ts'
import { versionDatabases } from './layout.ts'
import { cellExpression } from './series-source-cell.ts'
import { readRows } from './series-source-rows.ts'
import { HISTORY_KEY, rowWidth, scanSql } from './series-source-scan.ts'

/** Bounds of one reading. */
export interface SeriesSourceLimits {
  /** Numbers held for the cells of all series of one query, 8 bytes each. */
  readonly maxNumbers: number
  readonly timeoutMs: number
}

const DEFAULT_LIMITS: SeriesSourceLimits = { maxNumbers: 40_000_000, timeoutMs: 60_000 }
/** Statistics whose cells hold a counter's totals, which begin with what lies before the cell. */
const TOTALS: readonly CellStatistic[] = ['sum', 'min', 'max', 'first', 'last']

interface SeriesRow {
  readonly series_id: string
  readonly type: MetricType
  readonly labels: Labels
  readonly matches: number
}

/** Reads series from the fact tables: labels to ids first, then one scan of the points for each type of metric. */
export function createSeriesSource(
  engine: FactEngine,
  limits: SeriesSourceLimits = DEFAULT_LIMITS,
): SeriesSource {
  return {
    async read(plan, signal) {
      const options = {
        database: versionDatabases(plan.projectId, plan.version).facts,
        settings: { max_query_size: 4 * 2 ** 20 },
        timeoutMs: limits.timeoutMs,
        signal,
      }
      const found = await findSeries(engine, plan, options)
      const series: SeriesCells[] = []
      for (const type of ['counter', 'gauge'] as const) {
        const matching = found.filter((row) => row.type === type && row.matches)
        if (matching.length === 0) continue
        const isWhole = matching.length === found.length
        series.push(...(await scan(engine, plan, type, matching, isWhole, limits, options)))
      }
      return { isKnownMetric: found.length > 0, series } satisfies SeriesReading
    },
  }
}

/** All series of the metric, and whether each matches; none where nothing was ever ingested. */
async function findSeries(
  engine: FactEngine,
  plan: SeriesPlan,
  options: StatementOptions,
): Promise<readonly SeriesRow[]> {
  const parameters: Record<string, string> = { metric: plan.metric }
  const conditions = plan.matchers.map((matcher, index) => matcherSql(matcher, index, parameters))
  const sql = `select series_id, type, labels, ${conditions.join(' and ') || '1'} as matches
from series where metric = {metric:String} limit 1 by series_id`
  try {
    return await engine.rows<SeriesRow>(sql, { ...options, parameters })
  } catch (error) {
    if (hasEngineCode(error, 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE')) return []
    throw hasEngineCode(error, 'CANNOT_COMPILE_REGEXP') ? brokenExpression(plan.matchers, error) : error
  }
}

function matcherSql(matcher: LabelMatcher, index: number, parameters: Record<string, string>): string {
  const [label, value] = [`label${index}`, `value${index}`]
  parameters[label] = matcher.label
  parameters[value] =
    matcher.operator === '=~' || matcher.operator === '!~' ? `^(?:${matcher.value})$` : matcher.value
  const [name, wanted] = [`labels[{${label}:String}]`, `{${value}:String}`]
  switch (matcher.operator) {
    case '=':
      return `${name} = ${wanted}`
    case '!=':
      return `${name} != ${wanted}`
    case '=~':
      return `match(${name}, ${wanted})`
    case '!~':
      return `not match(${name}, ${wanted})`
  }
}

/** The databases of a version appear with its first data, so their absence is no failure. */
function hasEngineCode(error: unknown, ...codes: string[]): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  return error.details.some((detail) => {
    const code = (detail as { engineCode?: unknown } | null)?.engineCode
    return typeof code === 'string' && codes.includes(code)
  })
}

/** The engine's message quotes the expression as it was anchored, and the statement around it. */
function brokenExpression(matchers: readonly LabelMatcher[], error: ServiceError): ServiceError {
  const expressions = matchers
    .filter(({ operator }) => operator === '=~' || operator === '!~')
    .map(({ label, operator, value }) => `${label}: ${JSON.stringify(operator + value)}`)
  const reason = /, error: ([^:]*)/.exec(error.message)?.[1] ?? 'does not compile'
  return new ServiceError(
    'invalid_argument',
    `labelSelector: not an RE2 regular expression (${reason}): ${expressions.join(', ')}`,
    { cause: error },
  )
}

async function scan(
  engine: FactEngine,
  plan: SeriesPlan,
  type: MetricType,
  matching: readonly SeriesRow[],
  isWhole: boolean,
  limits: SeriesSourceLimits,
  options: StatementOptions,
): Promise<SeriesCells[]> {
  const needs = plan.needs[type]
  const needsTotals = type === 'counter' && needs.statistics.some((statistic) => TOTALS.includes(statistic))
  const columns = [...new Set([...needs.statistics, ...(needsTotals ? (['change'] as const) : [])])]
  const cells = plan.edges.length - 1
  const numbers = matching.length * cells * (1 + columns.length)
  if (numbers > limits.maxNumbers) {
    throw new ServiceError(
      'resource_exhausted',
      `${plan.metric}: ${matching.length} series over ${cells} intervals are too many for one query; select fewer by labelSelector or raise the step`,
    )
  }
  const cell = cellExpression(plan.edges)
  const seriesIds = isWhole ? null : matching.map((row) => row.series_id)
  const task = { type, seriesIds, edges: plan.edges, cell, columns, needsHistory: needs.needsHistory }
  const series = new Map(
    matching.map(({ series_id, labels }) => [BigInt(series_id), emptyCells(labels, columns, cells)]),
  )
  const sql = scanSql(task)
  if (sql === '') return []
  const stream = await engine.stream(sql, 'RowBinary', { ...options, parameters: { metric: plan.metric } })
  await readRows(stream, rowWidth(task), (seriesId, key, count, statistic) => {
    const target = series.get(seriesId)
    if (!target) return
    if (key === HISTORY_KEY) {
      target.before = statistic(0)
      return
    }
    const index = cell.cellOf(key)
    target.count[index] = count
    for (const [column, values] of target.columns.entries()) values[index] = statistic(column)
  })
  return Array.from(series.values(), ({ labels, before, count, columns: values }) => {
    const statistics = Object.fromEntries(columns.map((name, i) => [name, values[i]]))
    const read: SeriesCells = { labels, type, before, count, statistics }
    return needsTotals ? addTotals(read) : read
  })
}

function emptyCells(labels: Labels, columns: readonly CellStatistic[], cells: number) {
  return {
    labels: Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== '')),
    before: null as number | null,
    count: new Float64Array(cells),
    columns: columns.map(() => new Float64Array(cells)),
  }
}

/** Turns totals from the start of each cell into totals from the beginning; the sum is compensated (Neumaier). */
function addTotals(series: SeriesCells): SeriesCells {
  const { count, statistics } = series
  let [total, compensation] = [series.before ?? 0, 0]
  for (const [cell, samples] of count.entries()) {
    if (samples === 0) continue
    const base = total + compensation
    for (const statistic of TOTALS) {
      const values = statistics[statistic]
      if (values) values[cell] = (values[cell] ?? 0) + base * (statistic === 'sum' ? samples : 1)
    }
    const change = statistics.change?.[cell] ?? 0
    const next = total + change
    compensation += Math.abs(total) >= Math.abs(change) ? total - next + change : change - next + total
    total = next
  }
  return series
}
