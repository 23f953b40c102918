import { invalidArgument } from '../platform/errors.ts'
import type { GridSeries } from './grid-series.ts'
import { point } from './grid-series.ts'
import type { Pace } from './pace.ts'
import { labelValue, pickLabels } from './labels.ts'

/** Running aggregates of the values that series have at one grid point. */
const OPERATIONS = {
  AVG: { start: 0, add: (total, value) => total + value, finish: (total, count) => total / count },
  SUM: { start: 0, add: (total, value) => total + value, finish: (total) => total },
  MIN: { start: Infinity, add: Math.min, finish: (least) => least },
  MAX: { start: -Infinity, add: Math.max, finish: (most) => most },
  COUNT: { start: 0, add: (total) => total, finish: (_, count) => count },
} as const satisfies Record<string, Operation>

interface Operation {
  readonly start: number
  readonly add: (total: number, value: number) => number
  readonly finish: (total: number, count: number) => number
}

/** The operation of an aggregation. */
export type AggregateOp = keyof typeof OPERATIONS

/** How series are combined: those with equal values of the `grouping` labels become one (MQ-5). */
export interface Aggregate {
  readonly op: AggregateOp
  readonly grouping: readonly string[]
}

/** Checks an aggregate; its op is AVG when absent (MQ-5). */
export function parseAggregate(
  wire: { readonly op?: string; readonly grouping?: readonly string[] },
  field: string,
): Aggregate {
  const op = (wire.op || 'AVG').toUpperCase()
  if (!isAggregateOp(op)) {
    throw invalidArgument(
      `${field}.op: ${JSON.stringify(wire.op)} is not one of ${Object.keys(OPERATIONS).join(', ')}`,
    )
  }
  return { op, grouping: [...new Set(wire.grouping)].toSorted() }
}

function isAggregateOp(op: string): op is AggregateOp {
  return Object.hasOwn(OPERATIONS, op)
}

/** Aggregates the values that the series have at each grid point; a point is missing where all of a group's are. */
export async function aggregate(
  series: readonly GridSeries[],
  { op, grouping }: Aggregate,
  pace: Pace,
): Promise<GridSeries[]> {
  const groups = new Map<string, GridSeries[]>()
  for (const member of series) {
    let key = ''
    for (const name of grouping) {
      const value = labelValue(member.labels, name)
      key += `${value.length}:${value}`
    }
    const group = groups.get(key)
    if (group) group.push(member)
    else groups.set(key, [member])
    await pace.turn()
  }
  const aggregated: GridSeries[] = []
  for (const members of groups.values()) {
    aggregated.push({
      labels: pickLabels(members[0]?.labels ?? {}, grouping),
      values: await combine(members, OPERATIONS[op], pace),
    })
  }
  return aggregated
}

async function combine(
  members: readonly GridSeries[],
  operation: Operation,
  pace: Pace,
): Promise<Float64Array> {
  const length = members[0]?.values.length ?? 0
  const totals = new Float64Array(length).fill(operation.start)
  const counts = new Float64Array(length)
  for (const { values } of members) {
    addValues(operation, totals, counts, values)
    await pace.turn()
  }
  return totals.map((total, i) => (counts[i] ? point(operation.finish(total, counts[i] ?? 0)) : Number.NaN))
}

/** The common cases in loops of their own: a call for each value takes several times as long. */
function addValues(
  operation: Operation,
  totals: Float64Array,
  counts: Float64Array,
  values: Float64Array,
): void {
  const isSum = operation === OPERATIONS.SUM || operation === OPERATIONS.AVG
  for (let i = 0; i < totals.length; i += 1) {
    const value = values[i] ?? Number.NaN
    if (Number.isNaN(value)) continue
    const total = totals[i] ?? 0
    totals[i] = isSum ? total + value : operation.add(total, value)
    counts[i] = (counts[i] ?? 0) + 1
  }
}
