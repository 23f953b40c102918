import { shift, wallClock } from './oracle-calendar.ts'

/** A function as the oracle sees it. */
export interface OracleFunction {
  readonly name: string
  /** The number of the period, or of a function that takes a number. */
  readonly value?: number
  readonly unit?: string
  /** Of `quantile_over_time` alone. */
  readonly quantile?: number
}

/** A sample; a counter's value is its running total (MQ-3). */
export interface OracleValue {
  readonly atMicros: number
  readonly value: number
}

/** A series on the grid; null is no point. */
export interface OracleSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly values: readonly (number | null)[]
}

/** Where a window begins for a counter that has no value before it (FN-3). */
export type OracleType = 'counter' | 'gauge'

/** Is it a function that looks at samples? */
export function looksAtSamples(call: OracleFunction): boolean {
  return call.unit !== undefined
}

/** The last value at or before a time (MQ-2). */
export function carried(values: readonly OracleValue[], atSeconds: number): number | null {
  return values.findLast(({ atMicros }) => atMicros <= atSeconds * 1e6)?.value ?? null
}

/** What a function that looks at samples makes of them at grid time `t` (FN-1 to FN-5). */
export function evaluateWindow(
  values: readonly OracleValue[],
  type: OracleType,
  call: OracleFunction,
  t: number,
  zone: string,
): number | null {
  const { value: count = 1, unit = 's' } = call
  if (call.name === 'before') return carried(values, shift(t, -count, unit, zone))
  if (call.name === 'after') return carried(values, shift(t, count, unit, zone))
  const at = t * 1e6
  const isLeading = call.name.startsWith('rollup_')
  const other = shift(t, isLeading ? count : -count, unit, zone) * 1e6
  const isInside = ({ atMicros }: OracleValue) =>
    isLeading ? atMicros >= at && atMicros < other : atMicros > other && atMicros <= at
  const inside = values.filter(isInside)
  const first = inside[0]
  const isBefore = ({ atMicros }: OracleValue) => (isLeading ? atMicros < at : atMicros <= other)
  const before = values.findLast(isBefore)?.value
  const name = call.name.replace(/^rollup_|^moving_/, '').replace('_over_time', '')
  if (name === 'count') return first || before !== undefined ? inside.length : null
  if (!first) return null
  const numbers = inside.map(({ value }) => value)
  const last = numbers.at(-1) ?? 0
  const sum = numbers.reduce((a, b) => a + b)
  const base = before ?? (type === 'counter' ? 0 : first.value)
  let rise = 0
  for (const [i, value] of numbers.entries()) {
    const previous = numbers[i - 1] ?? base
    if (value > previous) rise += value - previous
  }
  switch (name) {
    case 'sum':
      return sum
    case 'avg':
      return sum / numbers.length
    case 'min':
      return Math.min(...numbers)
    case 'max':
      return Math.max(...numbers)
    case 'first':
      return first.value
    case 'last':
      return last
    case 'delta':
      return last - base
    case 'increase':
      return rise
    case 'stddev': {
      const mean = sum / numbers.length
      return Math.sqrt(numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / numbers.length)
    }
    case 'quantile': {
      const ascending = numbers.toSorted((a, b) => a - b)
      const place = (call.quantile ?? 0) * (numbers.length - 1)
      const at = (index: number) => ascending[index] ?? 0
      return at(Math.floor(place)) + (at(Math.ceil(place)) - at(Math.floor(place))) * (place % 1)
    }
    case 'irate': {
      const end = inside.at(-1)
      const earlier = end && values.findLast((value) => value.atMicros < end.atMicros)
      return end && earlier ? ((end.value - earlier.value) * 1e6) / (end.atMicros - earlier.atMicros) : null
    }
    case 'rate':
      return rise / ((at - other) / 1e6)
    default:
      throw new Error(name)
  }
}

/** What any other function makes of all series at once (FN-5, FN-6). */
export function evaluatePointwise(
  series: readonly OracleSeries[],
  call: OracleFunction,
  grid: readonly number[],
  zone: string,
): OracleSeries[] {
  if (call.name === 'topk' || call.name === 'bottomk') return ranked(series, call)
  return series.map(({ labels, values }) => ({
    labels,
    values: values.map((value, i) =>
      value === null ? null : finite(pointOf(call, value, wallClock(grid[i] ?? 0, zone), grid[i] ?? 0)),
    ),
  }))
}

/** NaN and infinities are no points (MQ-2). */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function pointOf({ name, value: bound = 0 }: OracleFunction, x: number, wall: number, t: number): number {
  const local = new Date(wall * 1000)
  switch (name) {
    case 'abs':
      return x < 0 ? -x : x
    case 'ceil':
      return Math.ceil(x)
    case 'floor':
      return Math.floor(x)
    case 'round':
      return Math.floor(x + 0.5)
    case 'sqrt':
      return x < 0 ? Number.NaN : x ** 0.5
    case 'exp':
      return Math.E ** x
    case 'ln':
      return Math.log(x)
    case 'log2':
      return Math.log(x) / Math.LN2
    case 'log10':
      return Math.log(x) / Math.LN10
    case 'clamp_min':
      return x < bound ? bound : x
    case 'clamp_max':
      return x > bound ? bound : x
    case 'timestamp':
      return t
    case 'minute':
      return local.getUTCMinutes()
    case 'hour':
      return local.getUTCHours()
    case 'day_of_week':
      return ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(local.toUTCString().slice(0, 3)) + 1
    case 'day_of_month':
      return Number(local.toISOString().slice(8, 10))
    case 'day_of_year':
      return Math.floor((wall * 1000 - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000) + 1
    case 'month':
      return Number(local.toISOString().slice(5, 7))
    case 'year':
      return Number(local.toISOString().slice(0, 4))
    default:
      throw new Error(name)
  }
}

/** Series of which, at some point, fewer than k others are strictly better. */
function ranked(series: readonly OracleSeries[], { name, value: k = 1 }: OracleFunction): OracleSeries[] {
  const isBetter = (a: number, b: number) => (name === 'topk' ? a > b : a < b)
  return series.filter(({ values }) =>
    values.some((own, i) => {
      if (own === null) return false
      const better = series.filter((other) => {
        const value = other.values[i] ?? null
        return value !== null && isBetter(value, own)
      })
      return better.length < k
    }),
  )
}
