import { FUNCTIONS, describeCall, type FunctionCall } from './functions.ts'
import { nominalSeconds } from './period.ts'
import type { QueryPlan } from './plan-query.ts'
import type { MetricType, ReadingReport } from './series-source.ts'
import type { Grid } from './time-range.ts'

/** What evaluating a query showed of its series. */
export interface SeriesFacts {
  readonly types: ReadonlySet<MetricType>
  /** The share of grid points without a value, between the first and the last value of each series. */
  readonly gaps: number
}

/** What becomes of brackets and quotes in the name of a metric. */
const LIKE_AN_EXPRESSION = /__|_$/

/** More empty windows than this, and the window is taken to be shorter than the samples are apart. */
const GAPS_MOST = 0.5

/** What of a query is almost surely not meant: it is answered as asked, and said (MQ-3, MQ-8). */
export function queryWarnings(
  plan: QueryPlan,
  grid: Grid,
  report: ReadingReport,
  facts: SeriesFacts,
): string[] {
  const metric = JSON.stringify(plan.read.metric)
  if (report.knownSeries === 0) {
    const hint = LIKE_AN_EXPRESSION.test(plan.read.metric)
      ? '; it is the name alone: labels go into labelSelector, functions into functions, what combines series into aggregate'
      : ''
    return [`metric ${metric} does not exist${hint}`]
  }
  const warnings: string[] = []
  if (report.matchedSeries === 0) {
    const absent = plan.read.matchers.map(({ label }) => label).filter((label) => !report.hasLabel(label))
    const hint = absent.length > 0 ? `; none has the label ${quoted(absent)}` : ''
    warnings.push(`the labelSelector matches none of the ${report.knownSeries} series of ${metric}${hint}`)
  }
  for (const label of plan.aggregate?.grouping ?? []) {
    if (!report.hasLabel(label)) {
      warnings.push(`no series of ${metric} has the label ${JSON.stringify(label)} of aggregate.grouping`)
    }
  }
  if (plan.first) warnings.push(...firstWarnings(plan.first, metric, facts))
  for (const call of [...(plan.first ? [plan.first] : []), ...plan.functions]) {
    warnings.push(...stepWarnings(call, call !== plan.first, metric, grid))
  }
  return warnings
}

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(' or ')
}

function firstWarnings(call: FunctionCall, metric: string, facts: SeriesFacts): string[] {
  const { operation } = FUNCTIONS[call.name]
  if (operation.kind !== 'window') return []
  const { reducer } = operation
  const warnings: string[] = []
  if (reducer === 'sum' && facts.types.has('counter')) {
    const instead = operation.window === 'leading' ? 'rollup_delta' : 'delta_over_time, or rollup_delta,'
    warnings.push(
      `${call.name} of the counter ${metric} adds up running totals; ${instead} gives what was added in the window`,
    )
  }
  if ((reducer === 'rate' || reducer === 'increase') && facts.types.has('gauge')) {
    warnings.push(
      `${call.name} of the gauge ${metric} adds up its rises and leaves out its falls; delta_over_time gives the change of both`,
    )
  }
  if (operation.window === 'trailing' && reducer !== 'count' && facts.gaps > GAPS_MOST) {
    warnings.push(
      `${describeCall(call)} of ${metric}: ${Math.round(facts.gaps * 100)} % of the windows hold no sample; the window is shorter than the samples are apart`,
    )
  }
  return warnings
}

/** Buckets that do not meet, and windows over grid values that hold no more than one. */
function stepWarnings(call: FunctionCall, isOverGrid: boolean, metric: string, grid: Grid): string[] {
  const { operation } = FUNCTIONS[call.name]
  const { argument } = call
  if (operation.kind !== 'window' || argument === null || typeof argument === 'number') return []
  if (grid.points.length < 2 || nominalSeconds(argument) >= grid.stepSeconds) return []
  const told = `${describeCall(call)} of ${metric}: the window is shorter than the step of ${grid.stepSeconds} s`
  if (isOverGrid) return [`${told}, so that it sees one value of the function before it at most`]
  return operation.window === 'leading' ? [`${told}; what lies between the windows is left out`] : []
}

/** Counts the points that are missing inside of series. */
export interface Gaps {
  note(values: Float64Array): void
  share(): number
}

/** Series looked at; more would cost more than they tell. */
const SERIES_MOST = 100

/** Nothing counted yet. */
export function createGaps(): Gaps {
  let [series, points, missing] = [0, 0, 0]
  return {
    note(values) {
      if (series >= SERIES_MOST) return
      series += 1
      let [first, last] = [0, values.length - 1]
      while (first <= last && Number.isNaN(values[first])) first += 1
      while (last > first && Number.isNaN(values[last])) last -= 1
      for (let i = first; i <= last; i += 1) if (Number.isNaN(values[i])) missing += 1
      points += last - first + 1
    },
    share: () => (points === 0 ? 0 : missing / points),
  }
}
