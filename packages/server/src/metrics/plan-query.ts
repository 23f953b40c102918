import type { MetricQuery } from '@millrace/contract'
import { invalidArgument } from '../platform/errors.ts'
import { getOrMake } from '../platform/get-or-make.ts'
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
const plans = new WeakMap<Grid, WeakMap<MetricQuery, QueryPlan>>()

/** Plans a query on a grid, once for both; throws `invalid_argument` for what that query alone has wrong. */
export function planQuery(query: MetricQuery, field: string, grid: Grid): QueryPlan {
  const ofGrid = getOrMake(plans, grid, () => new WeakMap<MetricQuery, QueryPlan>())
  return getOrMake(ofGrid, query, () => makePlan(query, field, grid))
}

function makePlan(query: MetricQuery, field: string, grid: Grid): QueryPlan {
  const metric = query.query ?? ''
  if (metric === '') throw invalidArgument(`${field}.query: the name of a metric is required`)
  const functions = parseFunctions(query.functions ?? [], `${field}.functions`)
  const { reducer, first, rest } = firstFunction(functions)
  const cells = cellsOf(first, grid)
  const needs: Readonly<Record<MetricType, CellNeeds>> = WINDOW_REDUCERS[reducer].needs
  return {
    read: { metric, matchers: parseLabelSelector(query.labelSelector ?? {}), edges: cells.edges, needs },
    windows: cells.windows,
    get ranges() {
      return cells.ranges
    },
    reducer,
    first,
    functions: rest,
    aggregate: query.aggregate ? parseAggregate(query.aggregate, `${field}.aggregate`) : null,
  }
}

/** Windows on a grid, and the cells that they are made of. */
interface Cells {
  readonly windows: Windows
  readonly edges: Float64Array
  readonly ranges: CellRanges
}

/** The same for all queries of a dashboard, by what their first functions look at. */
const cells = new WeakMap<Grid, Map<string, Cells>>()
const CELLS_MAX = 8

function cellsOf(first: FunctionCall | null, grid: Grid): Cells {
  const ofGrid = getOrMake(cells, grid, () => new Map<string, Cells>())
  const key = first ? `${first.name} ${JSON.stringify(first.argument)}` : ''
  const known = ofGrid.get(key)
  if (known) return known
  if (ofGrid.size === CELLS_MAX) ofGrid.clear()
  const windows = windowsOfFirst(first, grid)
  const edges = withHourEdges(edgesOf(windows))
  let ranges: CellRanges | null = null
  const made = {
    windows,
    edges,
    // Where the values are known already, nobody asks.
    get ranges() {
      return (ranges ??= cellRanges(windows, edges))
    },
  }
  ofGrid.set(key, made)
  return made
}

/** The windows of a query that can be planned, at other grid points. */
export function planWindows(query: MetricQuery, grid: Grid): Windows {
  return windowsOfFirst(firstFunction(parseFunctions(query.functions ?? [], 'functions')).first, grid)
}

/** A first function that looks at windows or at other times sees the samples themselves; before any other the series is carried forward (MQ-2). */
function firstFunction(functions: readonly FunctionCall[]): FirstFunction {
  const [first, ...rest] = functions
  const operation = first && FUNCTIONS[first.name].operation
  if (first && operation?.kind === 'window') return { reducer: operation.reducer, first, rest }
  if (first && operation?.kind === 'shift') return { reducer: 'carried', first, rest }
  return { reducer: 'carried', first: null, rest: functions }
}

interface FirstFunction {
  readonly reducer: ReducerName
  readonly first: FunctionCall | null
  readonly rest: readonly FunctionCall[]
}

function windowsOfFirst(first: FunctionCall | null, grid: Grid): Windows {
  const operation = first && FUNCTIONS[first.name].operation
  if (operation?.kind === 'window') {
    return windowsOf({ kind: operation.window, period: periodOf(first?.argument ?? null) }, grid)
  }
  if (operation?.kind === 'shift') {
    return shiftedWindows(periodOf(first?.argument ?? null), operation.direction, grid)
  }
  return windowsOf({ kind: 'carried' }, grid)
}
