import type { QueryRangeRequest } from '@millrace/contract'
import type { ExplorerState } from './explorer-state.ts'
import { queryId } from './explorer-state.ts'
import { functionToWire, type MetricFunction } from './functions.ts'

const SERIES_MAX = 100

/** What the explorer asks when nothing else is chosen. */
export const DEFAULT_RANGE = { from: 'now-7d', to: 'now' } as const

/** The request that the state stands for; null while there is nothing to ask, or an argument is not readable yet. */
export function rangeRequest(
  state: ExplorerState,
  localZone: string,
  known: ReadonlyMap<string, MetricFunction>,
): QueryRangeRequest | null {
  const queries = (state.queries ?? []).map((query, place) => ({ ...query, id: queryId(place) }))
  const asked = queries.filter(({ metric }) => metric !== '')
  const formulas = (state.formulas ?? []).filter(({ expression }) => expression.trim() !== '')
  if (asked.length === 0) return null
  // A function that is not known goes as it stands: the service says what is wrong with it.
  const chains = asked.map(({ functions = [] }) =>
    functions.map(([name, ...typed]) =>
      functionToWire(known.get(name) ?? { name, kind: 'map', arguments: [] }, typed),
    ),
  )
  if (chains.some((chain) => chain.includes(null))) return null
  return {
    queries: asked.map(({ metric, labels = {}, op, by = [], alias, isHidden, id }, place) => ({
      query: metric,
      id,
      ...(alias ? { alias } : {}),
      labelSelector: { ...labels },
      ...(op ? { aggregate: { op, grouping: [...by] } } : {}),
      functions: (chains[place] ?? []).filter((each) => each !== null),
      disabled: isHidden ?? false,
    })),
    formulas: formulas.map(({ expression, alias }, place) => ({
      expression,
      id: `f${place + 1}`,
      ...(alias ? { alias } : {}),
    })),
    timeRange: {
      start: instant(state.from ?? DEFAULT_RANGE.from),
      end: instant(state.to ?? DEFAULT_RANGE.to),
      ...(state.step === undefined ? {} : { step: state.step }),
      timezone: state.timezone ?? localZone,
    },
    samplesLimit: SERIES_MAX,
  }
}

function instant(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text
}
