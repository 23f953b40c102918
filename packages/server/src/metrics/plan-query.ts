import type { MetricQuery } from '@millrace/contract'
import { invalidArgument } from '../platform/errors.ts'
import { parseAggregate, type Aggregate } from './aggregate.ts'
import { periodOf, shiftedWindows } from './apply-functions.ts'
import { FUNCTIONS, parseFunctions, type FunctionCall } from './functions.ts'
import { withHourEdges } from './hour-edges.ts'
import { parseLabelSelector } from './label-matcher.ts'
import type { CellNeeds, MetricType, SeriesPlan } from './series-source.ts'
import type { Grid } from './time-range.ts'
import { WINDOW_REDUCERS, type ReducerName } from './window-reducers.ts'
import { cellRanges, edgesOf, windowsOf, type CellRanges, type Windows } from './windows.ts'

/** One query as data: what to read, how its windows become grid values, and what happens to those. */
export interface QueryPlan {
  readonly read: Pick<SeriesPlan, 'metric' | 'matchers' | 'edges' | 'needs'>
  readonly windows: Windows
  readonly ranges: CellRanges
  readonly reducer: ReducerName
  /** The function that looks at the samples themselves; null where the series is carried forward. */
  readonly first: FunctionCall | null
  /** The functions that work on grid values: all, or all but the first. */
  readonly functions: readonly FunctionCall[]
  readonly aggregate: Aggregate | null
}

/** Plans by their grid: what a query covers is asked before it is computed. */
const plans = new WeakMap<Grid, Map<MetricQuery, QueryPlan>>()

/** Plans a query on a grid, once for both; throws `invalid_argument` for what that query alone has wrong. */
export function planQuery(query: MetricQuery, field: string, grid: Grid): QueryPlan {
  const ofGrid = plans.get(grid) ?? new Map<MetricQuery, QueryPlan>()
  plans.set(grid, ofGrid)
  const plan = ofGrid.get(query) ?? makePlan(query, field, grid)
  ofGrid.set(query, plan)
  return plan
}

function makePlan(query: MetricQuery, field: string, grid: Grid): QueryPlan {
  const metric = query.query ?? ''
  if (metric === '') throw invalidArgument(`${field}.query: the name of a metric is required`)
  const functions = parseFunctions(query.functions ?? [], `${field}.functions`)
  const { windows, reducer, first, rest } = firstWindows(functions, grid)
  const edges = withHourEdges(edgesOf(windows))
  const needs: Readonly<Record<MetricType, CellNeeds>> = WINDOW_REDUCERS[reducer].needs
  let ranges: CellRanges | null = null
  return {
    read: { metric, matchers: parseLabelSelector(query.labelSelector ?? {}), edges, needs },
    windows,
    // Where the values are known already, nobody asks.
    get ranges() {
      return (ranges ??= cellRanges(windows, edges))
    },
    reducer,
    first,
    functions: rest,
    aggregate: query.aggregate ? parseAggregate(query.aggregate, `${field}.aggregate`) : null,
  }
}

/** The windows of a query that can be planned, at other grid points. */
export function planWindows(query: MetricQuery, grid: Grid): Windows {
  return firstWindows(parseFunctions(query.functions ?? [], 'functions'), grid).windows
}

/** A first function that looks at windows or at other times sees the samples themselves; before any other the series is carried forward (MQ-2). */
function firstWindows(functions: readonly FunctionCall[], grid: Grid): FirstWindows {
  const [first, ...rest] = functions
  const operation = first && FUNCTIONS[first.name].operation
  if (operation?.kind === 'window') {
    const shape = { kind: operation.window, period: periodOf(first?.argument ?? null) }
    return { windows: windowsOf(shape, grid), reducer: operation.reducer, first: first ?? null, rest }
  }
  if (operation?.kind === 'shift') {
    const windows = shiftedWindows(periodOf(first?.argument ?? null), operation.direction, grid)
    return { windows, reducer: 'carried', first: first ?? null, rest }
  }
  return { windows: windowsOf({ kind: 'carried' }, grid), reducer: 'carried', first: null, rest: functions }
}

interface FirstWindows {
  readonly windows: Windows
  readonly reducer: ReducerName
  readonly first: FunctionCall | null
  readonly rest: readonly FunctionCall[]
}
