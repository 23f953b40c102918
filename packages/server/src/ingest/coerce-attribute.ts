import type { Attribute, AttributeKind } from './batch.ts'
import { fitsDecimal, survivesAsFloat64 } from './exact-number.ts'

const INTEGER = /^-?[0-9]+$/
const NATURAL = /^[0-9]+$/

/**
 * A value as the token of a column of another kind, where no digit and no meaning is lost: numbers go into exact columns and
 * back. Undefined where that is not so; strings, booleans and times never change their kind.
 */
export function coerceAttribute({ kind, json }: Attribute, to: AttributeKind): string | undefined {
  if (kind === to) return json
  const digits = digitsOf(kind, json)
  if (digits === undefined) return undefined
  switch (to) {
    case 'int':
      return kind !== 'uint' && INTEGER.test(digits) ? `"${digits}"` : undefined
    case 'uint':
      return NATURAL.test(digits) ? `"${digits}"` : undefined
    case 'decimal':
      return fitsDecimal(digits) ? `"${digits}"` : undefined
    case 'number':
      return survivesAsFloat64(digits) ? String(Number(digits)) : undefined
    case 'string':
    case 'boolean':
    case 'time':
    case 'json':
      return undefined
  }
}

function digitsOf(kind: AttributeKind, json: string): string | undefined {
  switch (kind) {
    case 'int':
    case 'uint':
    case 'decimal':
      return json.slice(1, -1)
    case 'number':
      return json
    default:
      return undefined
  }
}
