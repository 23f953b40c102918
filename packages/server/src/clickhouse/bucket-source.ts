import type {
  BucketOrder,
  BucketSource,
  MetricAddress,
  OnBucketRow,
  Stretch,
  ValueOrder,
} from '../metrics/bucket-source.ts'
import type { LabelMatcher } from '../metrics/label-matcher.ts'
import { HOUR_MICROS } from '../metrics/hour-edges.ts'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'
import { versionDatabases } from './layout.ts'
import { ofSnapshot } from './snapshot-condition.ts'
import { findSeries, hasEngineCode, type SeriesRow } from './series-source-find.ts'
import {
  AFTER,
  FROM_EARLIEST,
  HOUR,
  HOURLY_HISTORY,
  hourlyBounds,
  hourlyStatistic,
} from './series-source-rollup.ts'
import { readRows } from './series-source-rows.ts'
import { timeBounds } from './series-source-scan.ts'

const DEFAULT_TIMEOUT_MS = 60_000

/** Buckets from the fact tables: hours come from the projection, shorter ones from samples. */
export function createBucketSource(engine: FactEngine, timeoutMs = DEFAULT_TIMEOUT_MS): BucketSource {
  async function read(
    sql: string,
    { projectId, version, metric }: MetricAddress,
    width: number,
    onRow: OnBucketRow,
    signal: AbortSignal,
  ): Promise<void> {
    const options = {
      database: versionDatabases(projectId, version).facts,
      parameters: { metric },
      settings: { max_query_size: 4 * 2 ** 20 },
      timeoutMs,
      signal,
    }
    const stream = await engine.stream(sql, 'RowBinary', options).catch((error: unknown) => {
      if (isGone(error)) return null
      return throwDefect(error)
    })
    if (stream === null) return
    await readRows(stream, width, (high, low, key, count, numbers, at) => {
      if (count > 0) onRow(high, low, key, count, numbers, at)
    })
  }

  function find(
    { projectId, version, metric }: MetricAddress,
    matchers: readonly LabelMatcher[],
    signal: AbortSignal,
  ): Promise<readonly SeriesRow[]> {
    const database = versionDatabases(projectId, version).facts
    return findSeries(engine, { metric, matchers }, { database, timeoutMs, signal })
  }

  return {
    series: async (address, signal) => {
      const found = await find(address, [], signal)
      return found.map(({ series_id: id, type, labels }) => ({ id, type, labels }))
    },

    matching: async (address, matchers, signal) => {
      const found = await find(address, matchers, signal)
      return found.flatMap(({ series_id, matches }) => (matches ? [series_id] : []))
    },

    countSeries: async ({ projectId, version, metric }, signal) => {
      const database = versionDatabases(projectId, version).facts
      const sql = `select toUInt32(uniqExact(series_id)) as count from series where metric = {metric:String}`
      const options = { database, parameters: { metric }, timeoutMs, signal }
      const rows = await engine.rows<{ count: number }>(sql, options).catch((error: unknown) => {
        if (isGone(error)) return []
        throw error
      })
      return rows[0]?.count ?? 0
    },

    buckets: async (order, onRow, signal) => {
      if (order.ids?.length === 0) return
      await read(bucketsSql(order), order.address, order.statistics.length, onRow, signal)
    },

    values: async (order, onRow, signal) => {
      if (order.ids?.length === 0) return
      await read(valuesSql(order), order.address, 1, onRow, signal)
    },
  }
}

/** The series are remembered, and the version was deleted since. */
function isGone(error: unknown): boolean {
  return hasEngineCode(error, 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE')
}

/** Hours know of no batches: where some are to be left out, samples are read. Days do not lie on both sides. */
function bucketsSql(order: BucketOrder): string {
  const { bucketMicros, stretches, snapshot } = order
  const hours = bucketMicros / HOUR_MICROS
  const [bucket, after] = hours >= 1 ? ofHours(hours) : ofSamples(bucketMicros)
  const key = `toInt64(2 * ${bucket} + ${after})`
  const openFrom = snapshot?.fromMicros ?? Infinity
  const settled = clip(stretches, -Infinity, openFrom).map(({ fromMicros, toMicros }) =>
    hours >= 1 ? `(${hourlyBounds(fromMicros, toMicros)})` : timeBounds(fromMicros, toMicros),
  )
  const open = clip(stretches, openFrom, Infinity).map(({ fromMicros, toMicros }) =>
    timeBounds(fromMicros, toMicros),
  )
  const parts = [
    { within: settled, condition: '' },
    { within: open, condition: ofSnapshot(snapshot, 'batch') },
  ].filter(({ within }) => within.length > 0)
  return parts
    .map(
      ({ within, condition }) =>
        `${statementOf(order, key)} and (${within.join(' or ')})${condition}\ngroup by series_id, key`,
    )
    .join('\nunion all\n')
}

function statementOf({ type, ids, statistics }: BucketOrder, key: string): string {
  const columns = statistics.map((statistic) => `, toFloat64(${hourlyStatistic(type, statistic) ?? '0'})`)
  return `select series_id, ${key} as key, toFloat64(${HOURLY_HISTORY.count})${columns.join('')}
from points
where ${ofSeries(ids)}`
}

/** The parts of stretches that lie in another. */
function clip(stretches: readonly Stretch[], fromMicros: number, toMicros: number): readonly Stretch[] {
  return stretches
    .map((each) => ({
      fromMicros: Math.max(each.fromMicros, fromMicros),
      toMicros: Math.min(each.toMicros, toMicros),
    }))
    .filter((each) => each.fromMicros < each.toMicros)
}

/** The number of a bucket of so many hours, and whether a row lies after its first microsecond. */
function ofHours(hours: number): readonly [string, string] {
  if (hours === 1) return [HOUR, AFTER]
  return [`intDiv(${HOUR}, ${hours})`, `(${HOUR} % ${hours} > 0 or ${AFTER})`]
}

function ofSamples(bucketMicros: number): readonly [string, string] {
  return [`intDiv(${FROM_EARLIEST}, ${bucketMicros})`, `(${FROM_EARLIEST} % ${bucketMicros} > 0)`]
}

function valuesSql({ type, ids, fromMicros, beforeMicros }: ValueOrder): string {
  return `select series_id, toInt64(0) as key, toFloat64(${HOURLY_HISTORY.count}), toFloat64(${HOURLY_HISTORY.value[type]})
from points
where ${ofSeries(ids)} and ${hourlyBounds(fromMicros, beforeMicros)}
group by series_id`
}

/** Ids are digits that came from the engine; a parameter could not carry thousands of them in an address. */
function ofSeries(ids: readonly string[] | null): string {
  return `metric = {metric:String}${ids ? ` and series_id in (${ids.join(', ')})` : ''}`
}

/** The statement is ours: what the engine takes for the user's mistake is a defect, and its words are internal (ER-2). */
function throwDefect(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_argument') throw error
  throw new ServiceError('internal', 'the points cannot be read', { cause: error })
}
