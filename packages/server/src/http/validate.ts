import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidArgument } from '../platform/errors.ts'
import { getOrMake } from '../platform/get-or-make.ts'
import { misspeltMembers } from './misspelt-members.ts'
import { isRecord, mayBe, spelled, type Json, type SchemaNode } from './schema-node.ts'

/** What readers made their values of. */
const given = new WeakMap<object, { readonly schema: SchemaNode; readonly value: unknown }>()
/** What was said of values that come again. */
const hints = new WeakMap<object, readonly string[]>()

/** What was unknown in a value that a reader made and looks like a mistake, as sentences. */
export function hintsOf(read: unknown): readonly string[] {
  const from = isRecord(read) ? given.get(read) : undefined
  return from ? getOrMake(hints, from, () => misspeltMembers(from.schema, from.value)) : []
}

/**
 * Makes a reader for what a client sent: fields in snake_case or camelCase, `null` as absent, unknown fields
 * dropped, defaults filled in (WI-2), numbers also as decimal text as protobuf-JSON writes 64-bit ones. Names inside
 * maps (labels, attributes, parameters) are data and stay as they are. What is left must satisfy the schema;
 * otherwise `invalid_argument` names the first field at fault and what is allowed (ER-2).
 *
 * @param what how messages call the whole value, e.g. `body`
 */
export function createReader(schema: TSchema, what: string): (value: unknown) => unknown {
  const validator = Compile(schema)
  return (value) => {
    const read = normalise(schema, value)
    if (validator.Check(read)) {
      if (isRecord(read)) given.set(read, { schema, value })
      return read
    }
    throw invalidArgument(describe(validator.Errors(read), what))
  }
}

function normalise(schema: SchemaNode, value: unknown): unknown {
  if (schema.anyOf) return normalise(schema.anyOf.find((option) => mayBe(option, value)) ?? {}, value)
  if (schema.properties && isRecord(value)) return normaliseObject(schema.properties, value)
  if (schema.patternProperties && isRecord(value)) return withoutNulls(value)
  if (schema.items && Array.isArray(value))
    return value.map((item: unknown) => normalise(schema.items ?? {}, item))
  if (typeof value !== 'string') return value
  if (schema.type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (schema.type === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function normaliseObject(properties: Readonly<Record<string, SchemaNode>>, value: Json): Json {
  const read: Record<string, unknown> = {}
  for (const { name, inSnakeCase, schema } of spelled(properties)) {
    const member = own(value, name) ?? own(value, inSnakeCase) ?? schema.default
    if (member !== undefined) read[name] = normalise(schema, member)
  }
  return read
}

function withoutNulls(map: Json): Json {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))
}

function own(value: Json, name: string): unknown {
  return Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
}

interface Fault {
  readonly keyword: string
  readonly instancePath: string
  readonly params: unknown
  readonly message: string
}

/** The first fault as a sentence. The members of a union fault one by one at the same place: they are told together. */
function describe(faults: readonly Fault[], what: string): string {
  const [first] = faults
  if (!first) return `${what} is not valid`
  const path = first.instancePath
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
  const field = path === '' ? what : path
  const here = faults.filter((fault) => fault.instancePath === first.instancePath)
  const params = first.params as { requiredProperties?: string[]; allowedValues?: unknown[]; type?: string }
  switch (first.keyword) {
    case 'required': {
      const missing = params.requiredProperties?.[0] ?? ''
      return `${path === '' ? missing : `${path}.${missing}`} is required`
    }
    case 'enum':
      return `${field} must be one of ${params.allowedValues?.join(', ')}`
    case 'const':
      return `${field} must be one of ${told(here, 'const', 'allowedValue').join(', ')}`
    case 'type':
      return `${field} must be ${[...new Set(told(here, 'type', 'type').map(withArticle))].join(' or ')}`
    case 'format':
      return `${field} must be RFC 3339 such as "2026-01-31T12:00:00Z"`
    default:
      return `${field} ${first.message}`
  }
}

function withArticle(type: unknown): string {
  return `${/^[aeio]/.test(String(type)) ? 'an' : 'a'} ${String(type)}`
}

function told(faults: readonly Fault[], keyword: string, parameter: string): readonly unknown[] {
  return faults
    .filter((fault) => fault.keyword === keyword)
    .map((fault) => (fault.params as Readonly<Record<string, unknown>>)[parameter])
}
