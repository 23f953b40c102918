/** What a function of the metrics API takes. */
export type ArgumentKind = 'period' | 'number' | 'rank' | 'none'

interface FunctionGroup {
  readonly name: string
  readonly argument: ArgumentKind
  readonly functions: readonly string[]
}

/** The functions of the metrics API by what they are for, and what each takes. */
export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  {
    name: 'Over the time behind',
    argument: 'period',
    functions: [
      ...['avg', 'sum', 'min', 'max', 'count', 'first', 'last', 'delta'].map((each) => `${each}_over_time`),
      'rate',
      'increase',
      'delta',
      'moving_delta',
    ],
  },
  {
    name: 'Over the time ahead',
    argument: 'period',
    functions: ['avg', 'sum', 'min', 'max', 'count', 'first', 'last', 'delta'].map(
      (each) => `rollup_${each}`,
    ),
  },
  { name: 'Moved in time', argument: 'period', functions: ['before', 'after'] },
  { name: 'The most and the least', argument: 'rank', functions: ['topk', 'bottomk'] },
  {
    name: 'Point by point',
    argument: 'none',
    functions: ['abs', 'ceil', 'floor', 'round', 'sqrt', 'exp', 'ln', 'log2', 'log10'],
  },
  { name: 'Limits', argument: 'number', functions: ['clamp_min', 'clamp_max'] },
  {
    name: 'Calendar',
    argument: 'none',
    functions: ['timestamp', 'minute', 'hour', 'day_of_week', 'day_of_month', 'day_of_year', 'month', 'year'],
  },
]

const ARGUMENTS = new Map(
  FUNCTION_GROUPS.flatMap(({ argument, functions }) => functions.map((name) => [name, argument] as const)),
)

/** What a function takes. */
export function argumentOf(name: string): ArgumentKind {
  return ARGUMENTS.get(name) ?? 'none'
}

/** What a fresh function is given. */
export const DEFAULT_ARGUMENTS = {
  period: '1d',
  number: '0',
  rank: '5',
  none: '',
} as const satisfies Record<ArgumentKind, string>

/** The sentence under an argument that cannot be read; undefined when it can. */
export function argumentFault(kind: ArgumentKind, text: string): string | undefined {
  switch (kind) {
    case 'period':
      return /^\d+(\.\d+)?(s|m|h|d|w|mo|M|y)$/.test(text)
        ? undefined
        : 'A number and s, m, h, d, w, mo or y: 1d'
    case 'number':
      return text !== '' && Number.isFinite(Number(text)) ? undefined : 'A number'
    case 'rank':
      return /^[1-9]\d*$/.test(text) ? undefined : 'A whole number from 1'
    case 'none':
      return undefined
  }
}

/** A function with its argument in the form of the API. */
export function functionToWire(name: string, text: string): object {
  const kind = argumentOf(name)
  if (kind === 'none') return { name, arguments: [] }
  if (kind === 'rank') return { name, arguments: [{ intValue: Number(text) }] }
  if (kind === 'number') return { name, arguments: [{ doubleValue: Number(text) }] }
  const [, value, unit] = /^([\d.]+)(\w+)$/.exec(text) ?? []
  return { name, arguments: [{ durationValue: { value: Number(value), unit } }] }
}
