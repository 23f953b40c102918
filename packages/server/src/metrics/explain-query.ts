import { describeCall } from './functions.ts'
import type { QueryPlan } from './plan-query.ts'
import type { CellStatistic, MetricType, ReadingReport } from './series-source.ts'

/** How a query was planned, in words that the documentation uses. */
export interface PlanDescription {
  /** Conditions on labels, as `token="A"`. */
  readonly selector: readonly string[]
  /** What looks at the samples: a function, or that they are carried forward (MQ-2). */
  readonly samples: string
  /** What follows on grid values, in order, the aggregate last (MQ-1). */
  readonly afterwards: readonly string[]
  /** Epoch milliseconds; null is the beginning of the series. */
  readonly fromAt: number | null
  readonly toAt: number
  /** Stretches of time that statistics are read of. */
  readonly cells: number
  /** What is read of each cell, by the types of series that were found; `samples` are all of its samples. */
  readonly statistics: Readonly<Partial<Record<MetricType, readonly (CellStatistic | 'count' | 'samples')[]>>>
}

/** How one query was answered. */
export interface QueryExplanation {
  readonly name: string
  /** Null for a query of events, and where nobody asked. */
  readonly plan: PlanDescription | null
  readonly reading: Omit<ReadingReport, 'hasLabel'> | null
  readonly returnedSeries: number
  /** Milliseconds. */
  readonly stagesMs: Readonly<Record<QueryStage, number>>
}

/** The stages that each query goes through by itself; queries of one request do so at the same time. */
export const QUERY_STAGES = ['plan', 'execute', 'evaluate'] as const
export type QueryStage = (typeof QUERY_STAGES)[number]

/** Explains a query of a metric. */
export function explainQuery(
  plan: QueryPlan,
  report: ReadingReport,
  types: ReadonlySet<MetricType>,
  returnedSeries: number,
  stagesMs: QueryExplanation['stagesMs'],
): QueryExplanation {
  const { hasLabel: _, ...reading } = report
  return { name: plan.read.metric, plan: describePlan(plan, [...types]), reading, returnedSeries, stagesMs }
}

/** What is told of every query: how long it took. */
export function unexplained(
  name: string,
  returnedSeries: number,
  stagesMs: QueryExplanation['stagesMs'],
): QueryExplanation {
  return { name, plan: null, reading: null, returnedSeries, stagesMs }
}

function describePlan(
  { read, first, functions, aggregate }: QueryPlan,
  types: readonly MetricType[],
): PlanDescription {
  const { matchers, edges, needs } = read
  const needsHistory = types.some((type) => needs[type].needsHistory)
  const statisticsOf = (type: MetricType) =>
    needs[type].needsSamples ? (['samples'] as const) : (['count', ...needs[type].statistics] as const)
  const by = aggregate && aggregate.grouping.length > 0 ? ` by (${aggregate.grouping.join(', ')})` : ''
  return {
    selector: matchers.map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`),
    samples: first ? describeCall(first) : 'carried forward',
    afterwards: [...functions.map(describeCall), ...(aggregate ? [`${aggregate.op}${by}`] : [])],
    fromAt: needsHistory || edges[0] === undefined ? null : Math.floor(edges[0] / 1000),
    toAt: Math.floor((edges.at(-1) ?? 0) / 1000),
    cells: Math.max(edges.length - 1, 0),
    statistics: Object.fromEntries(types.map((type) => [type, statisticsOf(type)])),
  }
}
