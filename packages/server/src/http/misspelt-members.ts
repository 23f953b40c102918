import { nearestNames } from '../analytics/nearest-names.ts'
import { isRecord, mayBe, spelled, type SchemaNode } from './schema-node.ts'

const HINTS_MAX = 10
const NAME_LENGTH_MAX = 40
/** Letters in which a slip differs from what is meant; more make another name. */
const LETTERS_MAX = 2

/**
 * Members that a schema does not know and that look like one it does, as sentences. Clients may send more than is known (WI-2), so others
 * are not spoken of.
 */
export function misspeltMembers(schema: SchemaNode, value: unknown): readonly string[] {
  const found: string[] = []
  look(schema, value, '', found)
  return found
}

function look(schema: SchemaNode, value: unknown, path: string, found: string[]): void {
  if (found.length >= HINTS_MAX) return
  if (schema.anyOf) {
    const meant = schema.anyOf.find((option) => mayBe(option, value))
    if (meant) look(meant, value, path, found)
    return
  }
  if (schema.items && Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(schema.items, item, `${path}[${index}]`, found)
    return
  }
  const { properties } = schema
  if (!properties || !isRecord(value)) return
  const all = spelled(properties)
  for (const name of Object.keys(value)) {
    if (found.length >= HINTS_MAX) return
    const place = path === '' ? name : `${path}.${name}`
    const known = all.find((each) => each.name === name || each.inSnakeCase === name)
    if (known) look(known.schema, value[name], place, found)
    else if (name.length <= NAME_LENGTH_MAX) {
      // Where the one that is meant is given too, this is something else.
      const absent = all.filter(
        (each) => !Object.hasOwn(value, each.name) && !Object.hasOwn(value, each.inSnakeCase),
      )
      const names = absent.map((each) => each.name)
      const sibling = absent.find((each) => each.schema['x-elsewhere'] === name)?.name
      const nearest = sibling ?? nearestNames(name, names, LETTERS_MAX)[0]
      if (nearest !== undefined) {
        found.push(`${place} is not known and was left out; did you mean ${nearest}?`)
      } else if (schema['x-choice']) {
        found.push(
          `${place} is not known and was left out; known are ${all.map((each) => each.name).join(', ')}`,
        )
      }
    }
  }
}
