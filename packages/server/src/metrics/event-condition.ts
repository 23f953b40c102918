import type { EventSelector } from '@millrace/contract'
import { invalidArgument } from '../platform/errors.ts'

/** How a property is compared; the lists of values are checked for their length. */
export const COMPARISONS = {
  EQ: { least: 1, most: Infinity },
  NEQ: { least: 1, most: Infinity },
  EXISTS: { least: 0, most: 0 },
  NOT_EXISTS: { least: 0, most: 0 },
  GT: { least: 1, most: 1 },
  GTE: { least: 1, most: 1 },
  LT: { least: 1, most: 1 },
  LTE: { least: 1, most: 1 },
  BETWEEN: { least: 2, most: 2 },
  NOT_BETWEEN: { least: 2, most: 2 },
  CONTAINS: { least: 1, most: Infinity },
  NOT_CONTAINS: { least: 1, most: Infinity },
} as const satisfies Record<string, { least: number; most: number }>
export type Comparison = keyof typeof COMPARISONS

/** A value to compare with. Numbers are decimal text, so that none loses digits. */
export interface ComparedValue {
  readonly kind: 'number' | 'text' | 'time'
  readonly text: string
}

/** A condition on events as data. */
export type EventCondition =
  | {
      readonly kind: 'comparison'
      readonly property: string
      readonly comparison: Comparison
      readonly values: readonly ComparedValue[]
    }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly EventCondition[] }

const MAX_DEPTH = 8

/** Checks a `selectorExpr`; null where it says nothing. */
export function parseCondition(
  wire: EventSelector | undefined,
  field: string,
  depth = 0,
): EventCondition | null {
  if (depth > MAX_DEPTH) throw invalidArgument(`${field}: is nested more than ${MAX_DEPTH} deep`)
  if (wire?.selector) return parseSelector(wire.selector, `${field}.selector`)
  if (!wire?.logicExpr) return null
  const { expressions, operator = 'AND' }: { readonly expressions?: unknown; readonly operator?: unknown } =
    wire.logicExpr
  const kind =
    operator === 'AND' || operator === 'and' ? 'and' : operator === 'OR' || operator === 'or' ? 'or' : null
  if (!kind) throw invalidArgument(`${field}.logicExpr.operator: must be AND or OR`)
  const conditions = (Array.isArray(expressions) ? expressions : [])
    .map((each, i) => parseCondition(asSelector(each), `${field}.logicExpr.expressions[${i}]`, depth + 1))
    .filter((condition) => condition !== null)
  return conditions.length === 0 ? null : { kind, conditions }
}

/** What is nested was not seen by the schema of the route, so nothing is known of its members. */
interface Unseen {
  readonly key?: unknown
  readonly operator?: unknown
  readonly value?: unknown
}

function asSelector(value: unknown): EventSelector {
  const given: Readonly<Record<string, unknown>> = isObject(value) ? value : {}
  const { selector, logicExpr, logic_expr: inSnakeCase } = given
  const nested = logicExpr ?? inSnakeCase
  return { ...(isObject(selector) ? { selector } : {}), ...(isObject(nested) ? { logicExpr: nested } : {}) }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function parseSelector({ key, operator = 'EQ', value }: Unseen, field: string): EventCondition {
  if (typeof key !== 'string' || key === '')
    throw invalidArgument(`${field}.key: the name of a property is required`)
  const name = typeof operator === 'string' ? operator.toUpperCase() : ''
  if (!isComparison(name)) {
    throw invalidArgument(
      `${field}.operator: ${JSON.stringify(operator)} is not one of ${Object.keys(COMPARISONS).join(', ')}`,
    )
  }
  const { least, most } = COMPARISONS[name]
  const values = most === 0 || !Array.isArray(value) ? [] : value.filter(isObject).flatMap(parseValue)
  if (values.length < least || values.length > most) {
    const wanted = least === most ? `${least}` : `at least ${least}`
    throw invalidArgument(`${field}.value: ${name} takes ${wanted} of {"stringValue": …}, {"intValue": …}, …`)
  }
  return { kind: 'comparison', property: key, comparison: name, values }
}

function parseValue(value: Readonly<Record<string, unknown>>): ComparedValue[] {
  const textOf = (name: string): string | undefined => {
    const given = value[name]
    return typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean'
      ? String(given)
      : undefined
  }
  const number = textOf('intValue') ?? textOf('longValue') ?? textOf('doubleValue')
  if (number !== undefined) return [{ kind: 'number', text: number }]
  const text = textOf('stringValue') ?? textOf('boolValue')
  if (text !== undefined) return [{ kind: 'text', text }]
  const time = textOf('dateValue')
  if (time !== undefined) return [{ kind: 'time', text: time }]
  const { listValue } = value
  const list = isObject(listValue) ? listValue['values'] : null
  return Array.isArray(list) ? list.map((each) => ({ kind: 'text', text: String(each) })) : []
}

function isComparison(name: string): name is Comparison {
  return Object.hasOwn(COMPARISONS, name)
}
