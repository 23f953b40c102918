import { invalidArgument } from '../platform/errors.ts'
import type { Period } from './period.ts'
import { parsePeriod } from './period.ts'
import type { ReducerName } from './window-reducers.ts'

/** What a function takes besides the series. */
type Argument = 'period' | 'number' | 'rank' | 'none' | 'quantile'

/** How a function works on values: reducing windows of samples, point by point, from t alone, moving in time, or by rank. */
type Operation =
  | { readonly kind: 'window'; readonly window: 'trailing' | 'leading'; readonly reducer: ReducerName }
  | { readonly kind: 'map'; readonly apply: (value: number, argument: number) => number }
  | { readonly kind: 'calendar'; readonly read: (local: Date, epochSeconds: number) => number }
  | { readonly kind: 'shift'; readonly direction: 1 | -1 }
  | { readonly kind: 'rank'; readonly order: 'largest' | 'smallest' }

interface FunctionDefinition {
  readonly argument: Argument
  readonly operation: Operation
}

const window = (window: 'trailing' | 'leading', reducer: ReducerName) =>
  ({ argument: 'period', operation: { kind: 'window', window, reducer } }) as const
const map = (apply: (value: number) => number) =>
  ({ argument: 'none', operation: { kind: 'map', apply } }) as const
/** Reads a property of t; `local` holds what the wall clock shows as if it were UTC. */
const calendar = (read: (local: Date, epochSeconds: number) => number) =>
  ({ argument: 'none', operation: { kind: 'calendar', read } }) as const
const mapWithNumber = (apply: (value: number, argument: number) => number) =>
  ({ argument: 'number', operation: { kind: 'map', apply } }) as const

const DAY_MS = 86_400_000
const startOfDay = (local: Date) => Math.floor(local.getTime() / DAY_MS) * DAY_MS

/** The functions by their names on the wire (FN-1 to FN-6). */
export const FUNCTIONS = {
  avg_over_time: window('trailing', 'avg'),
  sum_over_time: window('trailing', 'sum'),
  min_over_time: window('trailing', 'min'),
  max_over_time: window('trailing', 'max'),
  count_over_time: window('trailing', 'count'),
  first_over_time: window('trailing', 'first'),
  last_over_time: window('trailing', 'last'),
  delta_over_time: window('trailing', 'delta'),
  stddev_over_time: window('trailing', 'stddev'),
  quantile_over_time: {
    argument: 'quantile',
    operation: { kind: 'window', window: 'trailing', reducer: 'quantile' },
  },
  rollup_avg: window('leading', 'avg'),
  rollup_sum: window('leading', 'sum'),
  rollup_min: window('leading', 'min'),
  rollup_max: window('leading', 'max'),
  rollup_count: window('leading', 'count'),
  rollup_first: window('leading', 'first'),
  rollup_last: window('leading', 'last'),
  rollup_delta: window('leading', 'delta'),
  rate: window('trailing', 'rate'),
  increase: window('trailing', 'increase'),
  irate: window('trailing', 'irate'),
  delta: window('trailing', 'delta'),
  moving_delta: window('trailing', 'delta'),
  before: { argument: 'period', operation: { kind: 'shift', direction: -1 } },
  after: { argument: 'period', operation: { kind: 'shift', direction: 1 } },
  topk: { argument: 'rank', operation: { kind: 'rank', order: 'largest' } },
  bottomk: { argument: 'rank', operation: { kind: 'rank', order: 'smallest' } },
  abs: map(Math.abs),
  ceil: map(Math.ceil),
  floor: map(Math.floor),
  round: map(Math.round),
  sqrt: map(Math.sqrt),
  exp: map(Math.exp),
  ln: map(Math.log),
  log2: map(Math.log2),
  log10: map(Math.log10),
  clamp_min: mapWithNumber((value, minimum) => Math.max(value, minimum)),
  clamp_max: mapWithNumber((value, maximum) => Math.min(value, maximum)),
  timestamp: calendar((_, epochSeconds) => epochSeconds),
  minute: calendar((local) => local.getUTCMinutes()),
  hour: calendar((local) => local.getUTCHours()),
  // Monday is 1, Sunday 7.
  day_of_week: calendar((local) => local.getUTCDay() || 7),
  day_of_month: calendar((local) => local.getUTCDate()),
  day_of_year: calendar((local) => (startOfDay(local) - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS + 1),
  month: calendar((local) => local.getUTCMonth() + 1),
  year: calendar((local) => local.getUTCFullYear()),
} as const satisfies Record<string, FunctionDefinition>

/** The name of a function. */
export type FunctionName = keyof typeof FUNCTIONS

/** A function with its argument, checked. */
export interface FunctionCall {
  readonly name: FunctionName
  readonly argument: Period | number | null
  /** The quantile wished for, 0 to 1; null for functions that take none. */
  readonly quantile: number | null
}

/** A function as it comes over the wire. */
export interface WireFunction {
  readonly name?: string
  readonly arguments?: readonly WireArgument[]
}

interface WireArgument {
  readonly durationValue?: { value?: number; unit?: string }
  readonly intValue?: number
  readonly doubleValue?: number
  readonly stringValue?: string
  readonly boolValue?: boolean
}

const TAKES = {
  period: 'one argument {"durationValue": {"value": 1, "unit": "d"}}',
  number: 'one argument {"doubleValue": …} or {"intValue": …}',
  rank: 'one argument {"intValue": k} with k at least 1',
  none: 'no argument',
  quantile:
    'two arguments, {"doubleValue": q} with q from 0 to 1 and {"durationValue": {"value": 1, "unit": "d"}}',
} as const satisfies Record<Argument, string>

/** Checks a chain of functions; throws `invalid_argument` naming the function and what it takes (FN-7). */
export function parseFunctions(functions: readonly WireFunction[], field: string): FunctionCall[] {
  return functions.map((wire, index) => parseFunction(wire, `${field}[${index}]`))
}

function parseFunction(wire: WireFunction, field: string): FunctionCall {
  const name = wire.name ?? ''
  if (!isFunctionName(name)) {
    const known = Object.keys(FUNCTIONS).join(', ')
    throw invalidArgument(`${field}: unknown function ${JSON.stringify(name)}; known are ${known}`)
  }
  const { argument: takes }: FunctionDefinition = FUNCTIONS[name]
  const given = wire.arguments ?? []
  const refusal = () => {
    const was = given.length === 0 ? 'none was given' : `not ${JSON.stringify(given).slice(0, 200)}`
    return invalidArgument(`${field}: ${name} takes ${TAKES[takes]}; ${was}`)
  }
  const periodOf = (value: WireArgument, index: number) =>
    parsePeriod(value.durationValue ?? {}, `${field}.arguments[${index}].durationValue`, ` of ${name}`)
  if (takes === 'none') {
    if (given.length > 0) throw refusal()
    return { name, argument: null, quantile: null }
  }
  if (takes === 'quantile') {
    const place = given.findIndex(({ durationValue }) => durationValue)
    const wished = given[place]
    const other = given.find(({ durationValue }) => !durationValue)
    const quantile = other?.doubleValue ?? other?.intValue
    if (given.length !== 2 || !wished || quantile === undefined || !(quantile >= 0 && quantile <= 1)) {
      throw refusal()
    }
    return { name, argument: periodOf(wished, place), quantile }
  }
  const [value, ...others] = given
  if (!value || others.length > 0) throw refusal()
  if (takes === 'period') {
    if (!value.durationValue) throw refusal()
    return { name, argument: periodOf(value, 0), quantile: null }
  }
  const number = takes === 'rank' ? value.intValue : (value.doubleValue ?? value.intValue)
  if (number === undefined || !Number.isFinite(number)) throw refusal()
  if (takes === 'rank' && !(Number.isInteger(number) && number >= 1)) throw refusal()
  return { name, argument: number, quantile: null }
}

/** A call as people write it: `rollup_sum(1d)`, `quantile_over_time(0.95, 1h)`. */
export function describeCall({ name, argument, quantile }: FunctionCall): string {
  const last =
    argument === null ? [] : [typeof argument === 'number' ? argument : `${argument.count}${argument.unit}`]
  return `${name}(${[...(quantile === null ? [] : [quantile]), ...last].join(', ')})`
}

function isFunctionName(name: string): name is FunctionName {
  return Object.hasOwn(FUNCTIONS, name)
}
