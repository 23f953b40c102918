/** What a field of an entity holds. */
export interface FieldType {
  /** `Int`, `BigInt`, `String`, …; the name of another entity where it is a reference. */
  readonly name: string
  readonly isList: boolean
}

/** The fields of the entities, by entity and field; without those that are only derived from another entity. */
export type EntitySchema = ReadonlyMap<string, ReadonlyMap<string, FieldType>>

/** Reads the entities of a schema in GraphQL, as the runtime's `GetConfig` gives it. Only the types of fields are of interest. */
export function readEntitySchema(text: string): EntitySchema {
  const plain = text.replace(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, ' ')
  const types = plain.matchAll(/\b(?:type|interface)\s+(\w+)[^{}]*\{([^{}]*)\}/g)
  return new Map([...types].map(([, name = '', fields = '']) => [name, readFields(fields)] as const))
}

function readFields(text: string): ReadonlyMap<string, FieldType> {
  const fields = text.matchAll(
    /(\w+)\s*(?:\([^)]*\))?\s*:\s*(\[?)\s*(\w+)[!\]\s]*((?:@\w+\s*(?:\([^)]*\))?\s*)*)/g,
  )
  return new Map(
    [...fields]
      .filter(([, , , , directives = '']) => !directives.includes('@derivedFrom'))
      .map(([, name = '', bracket, type = '']) => [name, { name: type, isList: bracket === '[' }] as const),
  )
}
