import type { EventQuery } from '@millrace/contract'
import { invalidArgument } from '../platform/errors.ts'
import { parseCondition } from './event-condition.ts'
import type { EventPlan, EventStatistic } from './event-source.ts'
import { parseFunctions, type FunctionCall } from './functions.ts'
import { nextGridPoint } from './grid.ts'
import { addPeriod, parsePeriod, type Period } from './period.ts'
import type { Grid } from './time-range.ts'
import type { Windows } from './windows.ts'

/** How values of windows that follow one another become values since the beginning; `none` where windows are what is asked for. */
export type Accumulation = 'none' | 'add' | 'first' | 'last'

/** One query of events as data. */
export interface EventQueryPlan {
  readonly read: Omit<EventPlan, 'projectId' | 'version' | 'snapshot'>
  readonly accumulation: Accumulation
  readonly functions: readonly FunctionCall[]
}

/** What `aggregateProperties.type` may be. */
const PROPERTY_TYPES = {
  SUM: ['sum', 'none'],
  CUMULATIVE_SUM: ['sum', 'add'],
  AVG: ['avg', 'none'],
  MEDIAN: ['median', 'none'],
  MIN: ['min', 'none'],
  MAX: ['max', 'none'],
  DISTINCT_COUNT: ['distinct', 'none'],
  CUMULATIVE_DISTINCT_COUNT: ['distinct', 'add'],
  CUMULATIVE_COUNT: ['count', 'add'],
  LAST: ['last', 'none'],
  CUMULATIVE_LAST: ['last', 'last'],
  FIRST: ['first', 'none'],
  CUMULATIVE_FIRST: ['first', 'first'],
  PERCENTILE_25TH: ['p25', 'none'],
  PERCENTILE_75TH: ['p75', 'none'],
  PERCENTILE_90TH: ['p90', 'none'],
  PERCENTILE_95TH: ['p95', 'none'],
  PERCENTILE_99TH: ['p99', 'none'],
} as const satisfies Record<string, readonly [EventStatistic, Accumulation]>

interface Aggregation {
  readonly statistic: EventStatistic
  readonly property: string | null
  readonly accumulation: Accumulation
  /** Looks back from the end of each interval; null looks at the interval. */
  readonly lookBack: Period | null
}

/** Who an event is of. */
const WHO = 'distinct_id'
const DEFAULT_GROUPS = 1000
const MAX_GROUPS = 10_000

/** Plans a query of events: each grid point stands for the interval up to the next one. Throws `invalid_argument`. */
export function planEventQuery(query: EventQuery, field: string, grid: Grid): EventQueryPlan {
  const name = query.resource?.name ?? ''
  if (name === '') throw invalidArgument(`${field}.resource.name: the name of an event log is required`)
  const { statistic, property, accumulation, lookBack } = parseAggregation(
    query.aggregation,
    `${field}.aggregation`,
  )
  return {
    read: {
      name,
      statistic,
      property,
      condition: parseCondition(query.selectorExpr, `${field}.selectorExpr`),
      groupBy: [...new Set(query.groupBy)],
      maxGroups: Math.min(query.limit || DEFAULT_GROUPS, MAX_GROUPS),
      windows: intervalsOf(grid, lookBack, accumulation !== 'none'),
      isNewOnly: accumulation !== 'none' && statistic === 'distinct',
    },
    accumulation,
    functions: parseFunctions(query.functions ?? [], `${field}.functions`),
  }
}

function parseAggregation(wire: EventQuery['aggregation'], field: string): Aggregation {
  const plain = { property: null, accumulation: 'none', lookBack: null } as const
  if (wire?.aggregateProperties) {
    const { type = '', propertyName = '' } = wire.aggregateProperties
    if (!isPropertyType(type)) {
      throw invalidArgument(
        `${field}.aggregateProperties.type: ${JSON.stringify(type)} is not one of ${Object.keys(PROPERTY_TYPES).join(', ')}`,
      )
    }
    if (propertyName === '' && type !== 'CUMULATIVE_COUNT') {
      throw invalidArgument(`${field}.aggregateProperties.propertyName: is required`)
    }
    const [statistic, accumulation] = PROPERTY_TYPES[type]
    return { statistic, property: propertyName || null, accumulation, lookBack: null }
  }
  if (wire?.countUnique) {
    const { duration } = wire.countUnique
    if (!duration?.value) return { statistic: 'distinct', property: WHO, accumulation: 'add', lookBack: null }
    const lookBack = parsePeriod(duration, `${field}.countUnique.duration`)
    return { ...plain, statistic: 'distinct', property: WHO, lookBack }
  }
  return wire?.unique ? { ...plain, statistic: 'distinct', property: WHO } : { ...plain, statistic: 'count' }
}

function isPropertyType(type: string): type is keyof typeof PROPERTY_TYPES {
  return Object.hasOwn(PROPERTY_TYPES, type)
}

/** From each grid point to the next, or as far back from there as asked for; the first one from the beginning where values accumulate. */
function intervalsOf(grid: Grid, lookBack: Period | null, isRunning: boolean): Windows {
  const { points, zone, stepSeconds } = grid
  const toMicros = points.map(
    (point, i) => (points[i + 1] ?? nextGridPoint(zone, point, stepSeconds)) * 1_000_000,
  )
  const fromMicros = points.map((point, i) => {
    if (isRunning) return i === 0 ? -Infinity : point * 1_000_000
    if (!lookBack) return point * 1_000_000
    return addPeriod(zone, (toMicros[i] ?? 0) / 1000, lookBack, -1) * 1000
  })
  return { fromMicros, toMicros }
}
