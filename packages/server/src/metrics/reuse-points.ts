import type { MetricQuery } from '@millrace/contract'
import { startOfDayMicros } from '../cache/data-change.ts'
import type { DataVersionStore } from '../cache/data-version-store.ts'
import type { FairMemory } from '../cache/fair-memory.ts'
import type { EvaluationDependencies, EvaluationScope } from './evaluate-query.ts'
import {
  bytesOf,
  joinPoints,
  keepWhere,
  membership,
  missingRuns,
  newestPoints,
  pickPoints,
  type ComputedPoints,
  type KeptPoints,
  type MissingRun,
} from './kept-points.ts'
import { planQuery, planWindows, type QueryPlan } from './plan-query.ts'
import { reduceQuery, type ReducedSeries, type Reduction } from './reduce-query.ts'
import { IS_REUSABLE } from './reuse-rules.ts'
import type { Windows } from './windows.ts'

/** Values at grid points that were computed for other ranges of the same kind of query. */
export interface PointMemory {
  /** As `reduceQuery`, computing only what is not known or no longer holds. */
  reduce(
    dependencies: EvaluationDependencies,
    query: MetricQuery,
    field: string,
    plan: QueryPlan,
    scope: EvaluationScope,
  ): Promise<Reduction>
}

interface PointMemoryOptions {
  readonly memory: FairMemory<KeptPoints>
  readonly changes: Pick<DataVersionStore, 'changedDays'>
}

/** Points kept of one kind of query; a range has a thousand at most. */
const POINTS_MAX = 4000
/** Stretches computed one by one; more of them are computed with what lies between. */
const RUNS_MAX = 2

/**
 * Keeps reduced windows by grid point: equal functions of equal samples on equal steps and time zone. Points whose windows touch no day that changed
 * since hold (CA-6); the others are computed anew. What is put together is what computing everything would give, bit for bit.
 */
export function createPointMemory({ memory, changes }: PointMemoryOptions): PointMemory {
  async function known(
    key: string,
    query: MetricQuery,
    plan: QueryPlan,
    scope: EvaluationScope,
  ): Promise<KeptPoints | null> {
    const kept = memory.get(key)
    const { dataVersion } = scope.reading
    // Another computation may have seen a later state than this one, which reads one state throughout.
    if (!kept || kept.dataVersion > dataVersion) return null
    if (kept.dataVersion === dataVersion) return kept
    const everything = { names: [plan.read.metric], fromMicros: null, toMicros: null }
    const days = await changes.changedDays(scope, everything, kept.dataVersion)
    if (days === null) return null
    const windows = planWindows(query, { ...scope.grid, points: kept.points })
    const needsHistory = kept.series.some(({ type }) => plan.read.needs[type].needsHistory)
    return keepWhere(kept, (index) => !isTouched(windows, needsHistory, index, days))
  }

  return {
    reduce: async (dependencies, query, field, plan, scope) => {
      if (!isWorthwhile(plan, scope)) return reduceQuery(dependencies, plan, scope)
      const key = keyOf(query, plan, scope)
      const { points } = scope.grid
      const held = await known(key, query, plan, scope)
      const runs = runsOf(points, held, scope.reading.dataVersion)
      const [run] = runs
      if (!held || (runs.length === 1 && run && run.first === 0 && run.end === points.length)) {
        const reduction = await reduceQuery(dependencies, plan, scope)
        const all = joinPoints(held ? [held, { points, ...reduction }] : [{ points, ...reduction }])
        if (all && isReusable(plan, all.series)) keep(key, { ...all, report: reduction.report }, scope)
        return reduction
      }
      const computed: (ComputedPoints & Reduction)[] = []
      for (const { first, end } of runs) {
        const part = { ...scope, grid: { ...scope.grid, points: points.subarray(first, end) } }
        const reduction = await reduceQuery(dependencies, planQuery(query, field, part.grid), part)
        computed.push({ points: part.grid.points, ...reduction })
      }
      const joined = joinPoints([held, ...computed])
      if (joined === null || !isReusable(plan, joined.series)) return reduceQuery(dependencies, plan, scope)
      const last = computed.at(-1)
      const report = last?.report ?? held.report
      if (last) keep(key, { ...joined, report }, scope)
      const readAt = last?.readAt ?? dependencies.clock.monotonic()
      return { series: pickPoints(points, joined), report, readAt }
    },
  }

  /** Once it is known that nothing was written meanwhile where nothing was left out. */
  function keep(key: string, computed: ComputedPoints, { projectId, reading }: EvaluationScope): void {
    reading.whenUndisturbed(() => {
      const { dataVersion } = reading
      if (computed.series.length === 0 || (memory.get(key)?.dataVersion ?? 0) > dataVersion) return
      const kept = newestPoints({ ...computed, dataVersion }, POINTS_MAX)
      memory.put(key, projectId, kept, bytesOf(kept))
    })
  }
}

/** One point, such as that of an instant query, is hardly asked for twice. */
function isWorthwhile({ reducer }: QueryPlan, { grid, isExplained, reading }: EvaluationScope): boolean {
  const { gauge, counter } = IS_REUSABLE[reducer]
  return reading.mayReuse && !isExplained && grid.points.length > 1 && (gauge || counter)
}

function isReusable({ reducer }: QueryPlan, series: readonly ReducedSeries[]): boolean {
  return series.every(({ type }) => IS_REUSABLE[reducer][type])
}

/** Does any of the days, ascending, reach into the window of a point? Where the past matters, a window has no beginning. */
function isTouched(
  { fromMicros, toMicros }: Windows,
  needsHistory: boolean,
  index: number,
  days: readonly number[],
): boolean {
  const from = needsHistory ? -Infinity : (fromMicros[index] ?? -Infinity)
  const to = toMicros[index] ?? Infinity
  const day = days.find((each) => startOfDayMicros(each + 1) > from)
  return day !== undefined && startOfDayMicros(day) < to
}

/**
 * What must be computed. Of a version that has changed at all, the last point at least: it tells which series there are now, of which the
 * warnings of an answer speak.
 */
function runsOf(points: Float64Array, held: KeptPoints | null, dataVersion: number): MissingRun[] {
  const runs = missingRuns(points, held ? membership(held.points) : () => false, RUNS_MAX)
  if (runs.length > 0 || held?.dataVersion === dataVersion) return runs
  return [{ first: points.length - 1, end: points.length }]
}

/** Everything that the value at a grid point follows from, besides the data. */
function keyOf(
  { query, labelSelector }: MetricQuery,
  { reducer, first }: QueryPlan,
  { projectId, version, grid }: EvaluationScope,
): string {
  const selector = Object.entries(labelSelector ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([
    projectId,
    version,
    query,
    selector,
    reducer,
    first,
    grid.stepSeconds,
    grid.zone.name,
  ])
}
