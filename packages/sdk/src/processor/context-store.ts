import type { IngestRecord } from './wire.ts'
import { encodeAttributes, type Attributes } from './encode.ts'
import type { EntityFilter } from './entity-filter.ts'
import type { EntityReader } from './entity-reader.ts'
import { storedForm, type EntityRow } from './entity-state.ts'
import { getEntity, iterateEntities, listEntities, type EntityChanges } from './entity-store.ts'
import type { Entity } from './instruments.ts'

type Kind<Row> = Entity<Row> | string
type WithId<Row> = Row & { readonly id: string }

/** Entities of the block's chain. A kind is given by its name or as registered; an instance of a registered kind knows its own. */
export interface EntityStore {
  /** Sets the whole state of an entity, or of several; fields that are left out become null. */
  upsert<Row extends Attributes>(kind: Kind<Row>, row: WithId<Row> | readonly WithId<Row>[]): void
  upsert(instances: object | readonly object[]): void
  delete(kind: { readonly entityName: string } | string, id: string | readonly string[]): void
  delete(instances: object | readonly object[]): void
  /** The present state, with what handlers changed before. Undefined when there is none. */
  get<Row = EntityRow>(kind: Kind<Row>, id: string): Promise<WithId<Row> | undefined>
  /** The states that meet all filters, in order of their ids; at most `limit`, default 1000. */
  list<Row = EntityRow>(
    kind: Kind<Row>,
    filters?: readonly EntityFilter[],
    options?: { readonly limit?: number },
  ): Promise<readonly WithId<Row>[]>
  /** All of them, read as they are consumed. */
  listIterator<Row = EntityRow>(
    kind: Kind<Row>,
    filters?: readonly EntityFilter[],
  ): AsyncIterableIterator<WithId<Row>>
}

/** Where the store of a context reads from. */
export interface EntitySource {
  readonly reader: EntityReader
  /** Changes of earlier blocks that the service may not have yet. */
  readonly earlier: EntityChanges
}

/** The store of the contexts of one block; `push` takes the records, `changes` remembers what the block changed. */
export function createContextStore(
  chain: string,
  { reader, earlier }: EntitySource,
  changes: EntityChanges,
  push: (record: IngestRecord) => void,
): EntityStore {
  const layers = [changes, earlier]

  function set(name: string, { id, ...attributes }: Attributes): void {
    const checked = checkId(name, id)
    push({ type: 'upsert', name, id: checked, attributes: encodeAttributes(attributes) })
    changes.set(chain, name, checked, storedForm(checked, attributes))
  }
  function remove(name: string, id: unknown): void {
    const checked = checkId(name, id)
    push({ type: 'delete', name, id: checked })
    changes.set(chain, name, checked, null)
  }
  const list = (kind: Kind<never>, filters: readonly EntityFilter[], limit: number) =>
    listEntities(reader, layers, chain, nameOf(kind), filters, limit)

  // The rows are typed by what the caller says of the kind; the store itself knows states only.
  const store: Readonly<Record<keyof EntityStore, unknown>> = {
    upsert(kind: object | string, rows?: Attributes | readonly Attributes[]) {
      if (rows === undefined) for (const each of asList(kind)) set(nameOf(each), each as Attributes)
      else for (const row of asList(rows)) set(nameOf(kind), row as Attributes)
    },
    delete(kind: object | string, ids?: string | readonly string[]) {
      if (ids === undefined) for (const each of asList(kind)) remove(nameOf(each), (each as Attributes)['id'])
      else for (const id of asList(ids)) remove(nameOf(kind), id)
    },
    get: (kind: Kind<never>, id: string) => getEntity(reader, layers, chain, nameOf(kind), id),
    list: (
      kind: Kind<never>,
      filters: readonly EntityFilter[] = [],
      { limit = 1000 }: { readonly limit?: number } = {},
    ) => list(kind, filters, limit),
    listIterator: (kind: Kind<never>, filters: readonly EntityFilter[] = []) =>
      iterateEntities((conditions, limit) => list(kind, conditions, limit), filters),
  }
  return store as unknown as EntityStore
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [value]
}

/** Of a name, of a registered kind, or of an instance of one. */
function nameOf(kind: unknown): string {
  if (typeof kind === 'string') return kind
  const named = typeof kind === 'object' && kind !== null ? kind.constructor : kind
  const { entityName } = (named ?? {}) as { readonly entityName?: unknown }
  if (typeof entityName === 'string') return entityName
  throw new TypeError(
    'an entity is given by its name, as registered, or as an instance of what was registered',
  )
}

function checkId(name: string, id: unknown): string {
  if (typeof id === 'string' && id !== '') return id
  throw new TypeError(`id of entity "${name}" must be a text that is not empty`)
}
