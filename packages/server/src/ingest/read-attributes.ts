import type { Attribute, AttributeKind } from './batch.ts'
import { fitsDecimal, isBeyondExactIntegers, survivesAsFloat64, widthOfInteger } from './exact-number.ts'
import { cleanName } from '../platform/clean-name.ts'
import { formatMicros, parseTime } from './parse-time.ts'
import { RecordFault } from './record-fault.ts'

/**
 * Reads the attributes of an event or an entity: their clean names, kinds and the tokens that are stored. `null` is no value.
 * `written` gives the text of an attribute as it was sent; it is asked for nested values, whose digits and key order are
 * kept, and for numbers that may have lost digits when they were parsed.
 *
 * @param refusal why an attribute cannot have a clean name; null when it can
 * @param mayHoldLongNumbers whether the record's text has any number of 18 or more digits
 */
export function readAttributes(
  given: unknown,
  refusal: (name: string) => string | null,
  mayHoldLongNumbers: boolean,
  written: (name: string) => string,
): ReadonlyMap<string, Attribute> {
  const attributes = new Map<string, Attribute>()
  if (given === undefined || given === null) return attributes
  if (typeof given !== 'object' || Array.isArray(given))
    throw new RecordFault('attributes', 'must be an object')
  for (const [name, value] of Object.entries(given)) {
    const clean = cleanAttributeName(name, refusal)
    if (value === null) continue
    if (attributes.has(clean)) {
      throw new RecordFault(
        `attributes.${name}`,
        `is the same attribute as another one: both are kept as "${clean}"`,
      )
    }
    attributes.set(
      clean,
      readAttribute(value, `attributes.${name}`, mayHoldLongNumbers, () => written(name)),
    )
  }
  return attributes
}

function cleanAttributeName(name: string, refusal: (name: string) => string | null): string {
  const clean = cleanName(name)
  if (clean === '') throw new RecordFault('attributes', 'has an attribute without a name')
  if (clean.length > 256)
    throw new RecordFault('attributes', 'has an attribute name of more than 256 characters')
  const reason = refusal(clean)
  if (reason !== null) throw new RecordFault(`attributes.${clean}`, reason)
  return clean
}

function readAttribute(
  value: unknown,
  field: string,
  mayHoldLongNumbers: boolean,
  written: () => string,
): Attribute {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed())
        throw new RecordFault(field, 'holds half a surrogate pair, which is no Unicode text')
      return { kind: 'string', json: JSON.stringify(value) }
    case 'boolean':
      return { kind: 'boolean', json: value ? 'true' : 'false' }
    case 'number':
      if ((mayHoldLongNumbers || isBeyondExactIntegers(value)) && !survivesAsFloat64(written())) {
        throw new RecordFault(
          field,
          `has more digits than a JSON number keeps; send it as {"$int": "…"} or {"$decimal": "…"}`,
        )
      }
      return { kind: 'number', json: String(value) }
    default:
      return readTagged(value as object, field) ?? { kind: 'json', json: JSON.stringify(written()) }
  }
}

const TAGS: Readonly<Record<string, (value: unknown, field: string) => Attribute>> = {
  $int: readInt,
  $decimal: readDecimal,
  $time: readTime,
}

/** `{"$int": …}`, `{"$decimal": …}` and `{"$time": …}`; undefined for any other object. */
function readTagged(value: object, field: string): Attribute | undefined {
  const [entry, second] = Object.entries(value) as [string, unknown][]
  if (!entry || second) return undefined
  const [tag, content] = entry
  return Object.hasOwn(TAGS, tag) ? TAGS[tag]?.(content, field) : undefined
}

function readInt(value: unknown, field: string): Attribute {
  if (typeof value !== 'string' || !/^-?[0-9]{1,78}$/.test(value)) {
    throw new RecordFault(`${field}.$int`, 'must be a text of up to 78 decimal digits, e.g. "-12"')
  }
  const width = widthOfInteger(value)
  if (width === null) {
    throw new RecordFault(`${field}.$int`, 'is beyond 256 bits (from -2^255 to 2^256-1)')
  }
  return quoted(width, /^-0+$/.test(value) ? '0' : value)
}

function readDecimal(value: unknown, field: string): Attribute {
  if (typeof value !== 'string' || !fitsDecimal(value)) {
    throw new RecordFault(
      `${field}.$decimal`,
      'must be a text of up to 46 digits before and 30 after the point, e.g. "-1.5"',
    )
  }
  return quoted('decimal', value)
}

function readTime(value: unknown, field: string): Attribute {
  const micros = typeof value === 'string' ? parseTime(value) : undefined
  if (micros === undefined) {
    throw new RecordFault(
      `${field}.$time`,
      'must be RFC 3339 up to microseconds, e.g. "2026-01-31T12:00:00Z"',
    )
  }
  return quoted('time', formatMicros(micros))
}

function quoted(kind: AttributeKind, text: string): Attribute {
  return { kind, json: `"${text}"` }
}
