import { TOTALS } from '../metrics/counter-totals.ts'
import { STEP_LADDER } from '../metrics/step.ts'
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
import { createCellTable, type CellTable, SAMPLES_COLUMNS } from './series-source-collect.ts'
import { createReadingCount, estimateRows, type ReadingCount } from './series-source-count.ts'
import { findSeries, type SeriesRow } from './series-source-find.ts'
import { readRows } from './series-source-rows.ts'
import { HISTORY_KEY, scanColumns, scanSql } from './series-source-scan.ts'

/** Bounds of one reading. */
export interface SeriesSourceLimits {
  /** Numbers held for the cells of all series of one query, 8 bytes each. */
  readonly maxNumbers: number
  /** Samples that may be held one by one, which a quantile needs. */
  readonly maxSamples: number
  readonly timeoutMs: number
  /** May hours stand for their samples? They do unless a comparison of both is wanted. */
  readonly usesHours: boolean
}

const DEFAULT_LIMITS: SeriesSourceLimits = {
  maxNumbers: 40_000_000,
  maxSamples: 10_000_000,
  timeoutMs: 60_000,
  usesHours: true,
}

/** Reads series from the fact tables: labels to ids first, then one scan of the points for each type of metric. */
export function createSeriesSource(
  engine: FactEngine,
  given: Partial<SeriesSourceLimits> = {},
): SeriesSource {
  const limits = { ...DEFAULT_LIMITS, ...given }
  return {
    async read(plan, signal) {
      const options = {
        database: versionDatabases(plan.projectId, plan.version).facts,
        settings: { max_query_size: 4 * 2 ** 20 },
        timeoutMs: limits.timeoutMs,
        signal,
      }
      const found = await findSeries(engine, plan, options)
      const tables: CellTable[] = []
      const count = createReadingCount()
      let matchedSeries = 0
      for (const type of ['counter', 'gauge'] as const) {
        const matching = found.filter((row) => row.type === type && row.matches)
        matchedSeries += matching.length
        if (matching.length === 0) continue
        const isWhole = matching.length === found.length
        const table = await scan(engine, plan, type, matching, isWhole, limits, options, count)
        if (table) tables.push(table)
      }
      const hasLabel = (name: string) => found.some(({ labels }) => (labels[name] ?? '') !== '')
      const report = { knownSeries: found.length, matchedSeries, hasLabel, ...count.total() }
      return { report, series: allSeries(tables) } satisfies SeriesReading
    },
  }
}

async function scan(
  engine: FactEngine,
  plan: SeriesPlan,
  type: MetricType,
  matching: readonly SeriesRow[],
  isWhole: boolean,
  limits: SeriesSourceLimits,
  options: StatementOptions,
  counts: ReadingCount,
): Promise<CellTable | null> {
  const { statistics, needsHistory, needsSamples } = plan.needs[type]
  const needsTotals = type === 'counter' && statistics.some((statistic) => TOTALS.includes(statistic))
  const columns: readonly CellStatistic[] = needsSamples
    ? SAMPLES_COLUMNS
    : [...new Set([...statistics, ...(needsTotals ? (['change'] as const) : [])])]
  const cells = Math.max(plan.edges.length - 1, 0)
  admit(plan, matching.length, 1 + columns.length, limits)
  const cell = cellExpression(plan.edges)
  const seriesIds = isWhole ? null : matching.map((row) => row.series_id)
  const { edges } = plan
  const { usesHours } = limits
  const { snapshot } = plan
  const task = { type, seriesIds, edges, cell, columns, needsHistory, needsSamples, usesHours, snapshot }
  const statement = scanSql(task)
  const { sql } = statement
  if (sql === '') return null
  if (needsSamples) {
    const samples = scanSql({ ...task, needsHistory: false }).sql
    admitSamples(plan, await estimateRows(engine, samples, plan.metric, options), limits)
  }
  if (plan.isExplained) counts.estimate(await estimateRows(engine, sql, plan.metric, options))
  const add = counts.of(statement, cells)
  const table = createCellTable(
    matching,
    type,
    columns,
    cells,
    { needsSamples, needsTotals },
    scanColumns(task),
  )
  for (const hasFar of [false, true]) {
    const stream = await engine
      .stream(hasFar ? scanSql(task, true).sql : sql, 'RowBinary', {
        ...options,
        parameters: { metric: plan.metric },
      })
      .catch(throwDefect)
    const layout = { kinds: scanColumns(task).kinds, hasFar }
    const isWhole = await readRows(stream, layout, (high, low, key, count, numbers, at) => {
      const row = table.find(high, low)
      if (row < 0 || count === 0) return
      const place = key === HISTORY_KEY ? HISTORY_KEY : cell.cellOf(key)
      add(place, count)
      if (place === HISTORY_KEY) table.setHistory(row, numbers, at)
      else table.setCell(row, place, count, numbers, at)
    })
    if (isWhole) break
  }
  return table
}

/** The statement is ours: what the engine takes for the user's mistake is a defect, and its words are internal (ER-2). */
function throwDefect(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_argument') throw error
  throw new ServiceError('internal', 'the points cannot be read', { cause: error })
}

function* allSeries(tables: readonly CellTable[]): Generator<SeriesCells> {
  for (const table of tables) yield* table.series()
}

/** Refuses what would not fit into memory before anything is read, and says what would. */
function admit(plan: SeriesPlan, series: number, perCell: number, { maxNumbers }: SeriesSourceLimits): void {
  const cells = plan.edges.length - 1
  const numbers = series * cells * perCell
  if (numbers <= maxNumbers) return
  const seconds = ((plan.edges.at(-1) ?? 0) - (plan.edges[0] ?? 0)) / 1e6
  // Windows that do not divide the step have two cells a point.
  const wish = (2 * seconds * numbers) / (cells * maxNumbers)
  const step = STEP_LADDER.find((each) => each >= wish)
  const suggestion = step === undefined ? '' : `; a step of ${step} seconds would do`
  throw new ServiceError(
    'resource_exhausted',
    `${plan.metric}: ${series} series over ${cells} intervals are ${numbers} numbers, and a query may hold ${maxNumbers}; select fewer series by labelSelector or raise the step${suggestion}`,
  )
}

/** The same for samples that are held one by one: however wide the step, all of them are. The estimate is of whole blocks of rows. */
function admitSamples({ metric, edges }: SeriesPlan, rows: number, { maxSamples }: SeriesSourceLimits): void {
  if (rows <= maxSamples) return
  const seconds = ((edges.at(-1) ?? 0) - (edges[0] ?? 0)) / 1e6
  const hours = Math.floor((seconds * maxSamples) / rows / 360) / 10
  throw new ServiceError(
    'resource_exhausted',
    `${metric}: about ${rows} samples would be held one by one, and a query may hold ${maxSamples}; select fewer series by labelSelector, or a range of ${hours} hours`,
  )
}
