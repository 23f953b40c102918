import type { MetricFunctionList } from '@millrace/contract'
import { queryOptions } from '@tanstack/react-query'
import { request } from '../api/request.ts'

/** A function of the metrics API with its arguments. */
export type MetricFunction = MetricFunctionList['functions'][number]
/** One argument of a function. */
export type MetricArgument = MetricFunction['arguments'][number]

/** The functions of the metrics API, as the service knows them. */
export const functionsQuery = queryOptions({
  queryKey: ['functions'],
  queryFn: async ({ signal }) =>
    (await request<MetricFunctionList>('/metrics/functions', { signal })).functions,
  staleTime: Infinity,
})

const HEADINGS = {
  trailing: 'Over the time behind',
  leading: 'Over the time ahead',
  shift: 'Moved in time',
  rank: 'The most and the least',
  map: 'Value by value',
  calendar: 'Calendar',
} as const satisfies Record<MetricFunction['kind'], string>

/** The functions by what they are for. */
export function functionSections(functions: readonly MetricFunction[]) {
  return Object.entries(HEADINGS).flatMap(([kind, name]) => {
    const items = functions
      .filter((each) => each.kind === kind)
      .map((each) => ({ id: each.name, aside: each.arguments.map((argument) => argument.name).join(', ') }))
    return items.length === 0 ? [] : [{ name, items }]
  })
}

/** What a fresh argument says. */
export function defaultArgument({ type, minimum, maximum }: MetricArgument): string {
  if (type === 'duration') return '1d'
  if (type === 'integer') return String(Math.max(5, minimum ?? 5))
  return maximum === undefined
    ? String(minimum ?? 0)
    : String(minimum === undefined ? maximum : 0.95 * maximum)
}

/** The sentence under an argument that cannot be read; undefined when it can. */
export function argumentFault({ type, minimum, maximum }: MetricArgument, text: string): string | undefined {
  if (type === 'duration') {
    return /^\d+(\.\d+)?(s|m|h|d|w|mo|M|y)$/.test(text)
      ? undefined
      : 'A number and s, m, h, d, w, mo or y: 1d'
  }
  const value = Number(text)
  const isReadable =
    text.trim() !== '' &&
    Number.isFinite(value) &&
    (type === 'number' || Number.isInteger(value)) &&
    value >= (minimum ?? -Infinity) &&
    value <= (maximum ?? Infinity)
  if (isReadable) return undefined
  const kind = type === 'integer' ? 'A whole number' : 'A number'
  return `${kind}${minimum === undefined ? '' : ` from ${minimum}`}${maximum === undefined ? '' : ` to ${maximum}`}`
}

/** A function with its arguments as typed, in the form of the API; null when one of them cannot be read. */
export function functionToWire(definition: MetricFunction, typed: readonly string[]): object | null {
  const { name, arguments: takes } = definition
  if (takes.some((argument, place) => argumentFault(argument, typed[place] ?? '') !== undefined)) return null
  return { name, arguments: takes.map((argument, place) => argumentToWire(argument, typed[place] ?? '')) }
}

function argumentToWire({ type }: MetricArgument, text: string): object {
  if (type === 'integer') return { intValue: Number(text) }
  if (type === 'number') return { doubleValue: Number(text) }
  const [, value, unit] = /^([\d.]+)(\w+)$/.exec(text) ?? []
  return { durationValue: { value: Number(value), unit } }
}
