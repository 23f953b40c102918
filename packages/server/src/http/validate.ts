import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidArgument } from '../platform/errors.ts'
import { getOrMake } from '../platform/get-or-make.ts'
import { describeFaults } from './describe-faults.ts'
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
    throw invalidArgument(describeFaults(validator.Errors(read), schema, what))
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
