import { MetricFunctionList } from '@millrace/contract'
import { FUNCTIONS, type FunctionName } from '../../metrics/functions.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

type Definition = (typeof FUNCTIONS)[FunctionName]
type Described = MetricFunctionList['functions'][number]

const PERIOD = { name: 'period', type: 'duration' } as const

/** What each kind of function takes, in the order in which a form asks for it. */
const ARGUMENTS: Readonly<Record<Definition['argument'], Described['arguments']>> = {
  none: [],
  period: [PERIOD],
  number: [{ name: 'limit', type: 'number' }],
  rank: [{ name: 'k', type: 'integer', minimum: 1 }],
  quantile: [{ name: 'quantile', type: 'number', minimum: 0, maximum: 1 }, PERIOD],
}

/** `GET /metrics/functions`: the functions of the metrics API, described from the table that evaluates them (FN-7). */
export function metricFunctionsRoute(): AnyRoute {
  const functions = Object.entries(FUNCTIONS).map(([name, { argument, operation }]) => ({
    name,
    kind: kindOf(operation),
    arguments: ARGUMENTS[argument],
  }))
  return defineRoute({
    method: 'GET',
    path: '/metrics/functions',
    permission: null,
    summary: 'The functions that queries and formulas may use, with their arguments.',
    tag: 'metrics',
    answer: MetricFunctionList,
    handle: () => ({ functions }),
  })
}

function kindOf(operation: Definition['operation']): Described['kind'] {
  return operation.kind === 'window' ? operation.window : operation.kind
}
