import type { EntityReader } from './entity-reader.ts'
import { compareTexts, meets, type EntityFilter } from './entity-filter.ts'
import type { EntityRow } from './entity-state.ts'

interface ChangedEntities {
  /** The newest state of an entity that the service may not have yet: null is deleted, undefined is unchanged. */
  find(chain: string, entity: string, id: string): EntityRow | null | undefined
  of(chain: string, entity: string): Iterable<readonly [string, EntityRow | null]>
}

/** Changes of entities that may not be in the service yet, by chain, name and id. */
export interface EntityChanges extends ChangedEntities {
  readonly size: number
  set(chain: string, entity: string, id: string, state: EntityRow | null): void
  /** Takes over the changes of a block that is done. */
  merge(changes: EntityChanges): void
  clear(): void
  all(): Iterable<readonly [readonly [string, string], ReadonlyMap<string, EntityRow | null>]>
}

/** Makes an empty set of changes. */
export function createEntityChanges(): EntityChanges {
  const byEntity = new Map<
    string,
    { key: readonly [string, string]; states: Map<string, EntityRow | null> }
  >()
  let size = 0
  const statesOf = (chain: string, entity: string) => byEntity.get(JSON.stringify([chain, entity]))?.states
  return {
    get size() {
      return size
    },
    find: (chain, entity, id) => statesOf(chain, entity)?.get(id),
    of: (chain, entity) => statesOf(chain, entity) ?? [],
    set(chain, entity, id, state) {
      const key = JSON.stringify([chain, entity])
      let known = byEntity.get(key)
      if (!known) byEntity.set(key, (known = { key: [chain, entity], states: new Map() }))
      if (!known.states.has(id)) size++
      known.states.set(id, state)
    },
    merge(changes) {
      for (const [[chain, entity], states] of changes.all()) {
        for (const [id, state] of states) this.set(chain, entity, id, state)
      }
    },
    clear() {
      byEntity.clear()
      size = 0
    },
    *all() {
      for (const { key, states } of byEntity.values()) yield [key, states] as const
    },
  }
}

/** The state of an entity: as changed last, first in this block, then before it, else as the service has it. */
export async function getEntity(
  reader: EntityReader,
  layers: readonly ChangedEntities[],
  chain: string,
  entity: string,
  id: string,
): Promise<EntityRow | undefined> {
  for (const layer of layers) {
    const changed = layer.find(chain, entity, id)
    if (changed !== undefined) return changed ?? undefined
  }
  const [stored] = await reader.list(chain, entity, [{ field: 'id', op: '=', value: id }], 1)
  return stored
}

/** The states that meet all filters, changes included, in order of their ids. `layers` has the newest first. */
export async function listEntities(
  reader: EntityReader,
  layers: readonly ChangedEntities[],
  chain: string,
  entity: string,
  filters: readonly EntityFilter[],
  limit: number,
): Promise<EntityRow[]> {
  const changed = new Map<string, EntityRow | null>()
  for (const layer of layers.toReversed())
    for (const [id, state] of layer.of(chain, entity)) changed.set(id, state)
  // Of what is stored, as many as changes take away are asked for in addition.
  const stored = await reader.list(chain, entity, filters, limit + changed.size)
  const unchanged = stored.filter(({ id }) => !changed.has(id))
  const met = [...changed.values()].filter(
    (state): state is EntityRow => state !== null && meets(state, filters),
  )
  return [...unchanged, ...met].toSorted((a, b) => compareTexts(a.id, b.id)).slice(0, limit)
}

const PAGE = 1000

/** All states that meet all filters, in order of their ids, read as they are consumed. */
export async function* iterateEntities(
  list: (filters: readonly EntityFilter[], limit: number) => Promise<readonly EntityRow[]>,
  filters: readonly EntityFilter[],
): AsyncGenerator<EntityRow> {
  let page = await list(filters, PAGE)
  yield* page
  for (let last = page.at(-1); last && page.length === PAGE; last = page.at(-1)) {
    page = await list([...filters, { field: 'id', op: '>', value: last.id }], PAGE)
    yield* page
  }
}
