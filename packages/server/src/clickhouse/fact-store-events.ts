import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import type { AttributeKind, EventRow } from '../ingest/batch.ts'
import type { IngestLimits } from '../ingest/ingest-limits.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'
import { shortenedName } from './fact-store-series.ts'
import { readEventLogs, type VersionSchema } from './fact-store-schema.ts'
import {
  ATTRIBUTE_COLUMN_TYPES,
  createEventTable,
  eventTable,
  eventView,
  quoteIdentifier,
  quoteString,
  userView,
} from './layout.ts'

/**
 * Makes and grows the tables of a batch's event logs. Returns warnings. Throws `invalid_argument` for an attribute that changed
 * its kind, a name that a metric has, or too many logs or attributes.
 */
export async function prepareEvents(
  engine: FactEngine,
  schema: VersionSchema,
  events: ReadonlyMap<string, readonly EventRow[]>,
  limits: IngestLimits,
): Promise<readonly string[]> {
  // Everything is checked before anything is made, so that a refused batch leaves no trace.
  if (findGrowth(schema, events, limits).length === 0) return []
  await refresh(engine, schema)
  const warnings: string[] = []
  // Another instance may make the same attributes at the same time, of other kinds: what came of it is checked again.
  for (;;) {
    const growth = findGrowth(schema, events, limits)
    if (growth.length === 0) return warnings
    const newLogs = growth.filter(({ isNew }) => isNew).map(({ name }) => name)
    if (schema.eventLogs.size + newLogs.length > limits.maxEventLogs) {
      throw invalidArgument(
        `a project has at most ${limits.maxEventLogs} event logs; ${newLogs[0]} would be one more`,
      )
    }
    for (const each of growth) await grow(engine, schema, each)
    await refresh(engine, schema)
    for (const { name } of growth) await show(engine, schema, name)
    warnings.push(...newLogs.filter((name) => userView(name) !== name).map(shortenedName))
  }
}

interface Growth {
  readonly name: string
  readonly isNew: boolean
  readonly attributes: ReadonlyMap<string, AttributeKind>
}

/** What the tables lack for the batch. */
function findGrowth(
  schema: VersionSchema,
  events: ReadonlyMap<string, readonly EventRow[]>,
  limits: IngestLimits,
): readonly Growth[] {
  return [...events].flatMap(([name, rows]) => {
    const log = schema.eventLogs.get(name)
    if (!log && schema.metrics.has(name)) {
      throw invalidArgument(`the name ${name} is a metric; an event log of the project cannot have it too`)
    }
    const attributes = newAttributes(name, log ?? new Map(), rows)
    if (attributes.size > 0 && (log?.size ?? 0) + attributes.size > limits.maxAttributesPerEventLog) {
      throw invalidArgument(
        `the event log ${name} would have more than ${limits.maxAttributesPerEventLog} attributes; send a nested object instead`,
      )
    }
    return log && attributes.size === 0 ? [] : [{ name, isNew: !log, attributes }]
  })
}

/** Attributes that the log does not have yet, each of the kind it is first sent in. */
function newAttributes(
  name: string,
  known: ReadonlyMap<string, AttributeKind>,
  rows: readonly EventRow[],
): ReadonlyMap<string, AttributeKind> {
  const found = new Map<string, AttributeKind>()
  for (const row of rows) {
    for (const [attribute, value] of row.attributes) {
      const kind = known.get(attribute) ?? found.get(attribute)
      if (kind === undefined) found.set(attribute, value.kind)
      else if (kind !== value.kind && coerceAttribute(value, kind) === undefined) {
        throw invalidArgument(
          `records[${row.index}]: attributes.${attribute} is ${value.kind}, but the attribute ${attribute} of the event log ${name} is ${kind}`,
          [{ index: row.index, field: `attributes.${attribute}`, was: kind, is: value.kind }],
        )
      }
    }
  }
  return found
}

/** Reads what other instances have made meanwhile. */
async function refresh(engine: FactEngine, schema: VersionSchema): Promise<void> {
  for (const [name, attributes] of await readEventLogs(engine, schema.databases)) {
    schema.eventLogs.set(name, attributes)
  }
}

async function grow(
  engine: FactEngine,
  { databases }: VersionSchema,
  { name, isNew, attributes }: Growth,
): Promise<void> {
  if (isNew) await engine.command(createEventTable(databases.facts, name))
  if (attributes.size === 0) return
  const columns = [...attributes].map(
    ([attribute, kind]) =>
      `add column if not exists ${quoteIdentifier(attribute)} ${ATTRIBUTE_COLUMN_TYPES[kind]} comment ${quoteString(kind)} codec(ZSTD(1))`,
  )
  const table = `${quoteIdentifier(databases.facts)}.${quoteIdentifier(eventTable(name))}`
  await engine.command(`alter table ${table} ${columns.join(', ')}`)
}

/** Shows SQL users every attribute of a log. Repeated while others add some, so that the view written last is the fullest. */
async function show(engine: FactEngine, schema: VersionSchema, name: string): Promise<void> {
  for (let shown = -1; ;) {
    const attributes = [...(schema.eventLogs.get(name)?.keys() ?? [])]
    if (attributes.length === shown) return
    await engine.command(eventView(schema.databases, name, attributes))
    shown = attributes.length
    await refresh(engine, schema)
  }
}
