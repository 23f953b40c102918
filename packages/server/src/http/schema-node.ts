import { getOrMake } from '../platform/get-or-make.ts'

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>

/** Parts of a JSON Schema that reading a value needs. */
export interface SchemaNode {
  readonly type?: string
  readonly properties?: Properties
  readonly items?: SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly anyOf?: readonly SchemaNode[]
  readonly const?: unknown
  readonly default?: unknown
  /** One of the properties says what is wanted: nothing else can be meant by another. */
  readonly 'x-choice'?: boolean
  /** What a member has elsewhere as its name. */
  readonly 'x-elsewhere'?: string
}

type Properties = Readonly<Record<string, SchemaNode>>

/** Whether a member of a union is the one meant, judged by its outermost type. */
export function mayBe(schema: SchemaNode, value: unknown): boolean {
  if (schema.const !== undefined) return schema.const === value
  if (schema.anyOf) return schema.anyOf.some((option) => mayBe(option, value))
  switch (schema.type) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
    case 'number':
      return typeof value === 'number'
    default:
      return typeof value === schema.type
  }
}

/** A property of an object, in both spellings (WI-2). */
export interface SpelledProperty {
  readonly name: string
  readonly inSnakeCase: string
  readonly schema: SchemaNode
}

const spelledProperties = new WeakMap<Properties, readonly SpelledProperty[]>()

/** The properties of a schema in both spellings; found once. */
export function spelled(properties: Properties): readonly SpelledProperty[] {
  return getOrMake(spelledProperties, properties, () =>
    Object.entries(properties).map(([name, schema]) => ({
      name,
      inSnakeCase: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      schema,
    })),
  )
}

/** Is it an object, and no array? */
export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
