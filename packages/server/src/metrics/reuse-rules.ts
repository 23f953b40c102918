import type { MetricType } from './series-source.ts'
import type { ReducerName } from './window-reducers.ts'

/**
 * May the value of a window be kept for later grids? Only where it follows from the samples alone, to the last bit, however the grid around it
 * cuts time into cells. Sums do not: those of cells are exact, but a window adds them rounded, in a grouping that depends on the grid; and a counter's values are sums.
 */
export const IS_REUSABLE = {
  carried: { gauge: true, counter: false },
  first: { gauge: true, counter: false },
  last: { gauge: true, counter: false },
  min: { gauge: true, counter: false },
  max: { gauge: true, counter: false },
  count: { gauge: true, counter: true },
  delta: { gauge: true, counter: false },
  irate: { gauge: true, counter: false },
  quantile: { gauge: true, counter: false },
  sum: { gauge: false, counter: false },
  avg: { gauge: false, counter: false },
  stddev: { gauge: false, counter: false },
  increase: { gauge: false, counter: false },
  rate: { gauge: false, counter: false },
} as const satisfies Record<ReducerName, Record<MetricType, boolean>>
