import type { EntityRow } from './entity-state.ts'
import { plainJson } from './encode.ts'
import { alike, isDecimalLike, scaledOf } from './exact-decimal.ts'

/**
 * A condition on a field of an entity. `in`, `not in`, `has all` and `has any` take an array; the last two ask of a field that is one. `like`
 * knows `%` and `_`. With null, `=` and `!=` ask whether the field is absent.
 */
export interface EntityFilter {
  readonly field: string
  readonly op:
    '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in' | 'like' | 'not like' | 'has all' | 'has any'
  readonly value: unknown
}

/** Whether a state meets all conditions. An absent value meets none but the negative ones. */
export function meets(row: EntityRow, filters: readonly EntityFilter[]): boolean {
  return filters.every(({ field, op, value }) => meetsOne(row[field], op, value))
}

function meetsOne(own: unknown, op: EntityFilter['op'], value: unknown): boolean {
  switch (op) {
    case '=':
      return value === null ? own === undefined : compare(own, value) === 0
    case '!=':
      return value === null ? own !== undefined : compare(own, value) !== 0
    case 'in':
      return asArray(value).some((each) => compare(own, each) === 0)
    case 'not in':
      return asArray(value).every((each) => compare(own, each) !== 0)
    case 'like':
      return isLike(own, value)
    case 'not like':
      return !isLike(own, value)
    case 'has all':
      return asArray(value).every((each) => elementsOf(own).has(elementText(each)))
    case 'has any':
      return asArray(value).some((each) => elementsOf(own).has(elementText(each)))
    case '<':
      return compare(own, value) < 0
    case '<=':
      return compare(own, value) <= 0
    case '>':
      return compare(own, value) > 0
    case '>=':
      return compare(own, value) >= 0
  }
}

/** The operand of an operator that takes an array. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [value]
}

/** An element of an array as JSON; bigints and decimals are texts there. */
export function elementText(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`
  return JSON.stringify(isDecimalLike(value) ? value.toFixed() : value)
}

/** Below, equal or above zero; NaN, which meets no comparison, where the two cannot be compared. */
function compare(own: unknown, value: unknown): number {
  if (own === undefined || own === null || value === undefined || value === null) return Number.NaN
  if (own instanceof Date || value instanceof Date) {
    return new Date(own as string).getTime() - new Date(value as string).getTime()
  }
  if (typeof own === 'boolean' || typeof value === 'boolean')
    return own === value ? 0 : Number(own) - Number(value)
  const [text, other] = [textOf(own), textOf(value)]
  if (text !== undefined && other !== undefined) return compareTexts(text, other)
  const [left, right] = [scaledOf(own), scaledOf(value)]
  if (!left || !right) return Number.NaN
  const [ownDigits, digits] = alike(left, right)
  if (ownDigits === digits) return 0
  return ownDigits < digits ? -1 : 1
}

/** By code points, as the service orders texts. */
export function compareTexts(left: string, right: string): number {
  return left === right ? 0 : Buffer.from(left).compare(Buffer.from(right))
}

function isLike(own: unknown, pattern: unknown): boolean {
  const text = textOf(own)
  if (text === undefined || typeof pattern !== 'string') return false
  const source = pattern.replace(/\\?[\s\S]/gu, (token) => {
    if (token === '%') return '.*'
    if (token === '_') return '.'
    return token.replace(/^\\/, '').replace(/[$()*+.?[\\\]^{|}/]/, '\\$&')
  })
  return new RegExp(`^${source}$`, 'su').test(text)
}

function elementsOf(own: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(own) ? own.map((each) => plainJson(each)) : [])
}

/** Texts, and lists and objects, which the service keeps as their JSON; undefined for what is neither. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null && !isDecimalLike(value) ? plainJson(value) : undefined
}
