import type { Attributes, Labels, MetricValue } from './encode.ts'
import type { EntityReader } from './entity-reader.ts'
import { storedForm, type EntityFilter, type EntityRow } from './entity-state.ts'
import { createEntityChanges, getEntity, listEntities, type EntityChanges } from './entity-store.ts'
import type { Entity } from './instruments.ts'
import { encodeAttributes, encodeLabels, encodeLine, encodeMetricValue } from './encode.ts'

/** The block that records belong to (IN-1). */
export interface Block {
  /** Chain id, e.g. `"1"`. Empty for data that has no chain. */
  readonly chain: string
  readonly number: number
  /** Time of the block; every record of it carries this time. */
  readonly time: Date
  readonly hash?: string
}

/** The place inside a block, where it is known. */
export interface Place {
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

interface MetricInstrument {
  add(value: MetricValue, labels?: Labels): void
  sub(value: MetricValue, labels?: Labels): void
}

/** Entities of the block's chain. A kind is given by its name or as registered. */
export interface EntityStore {
  /** Sets the whole state of an entity; fields that are left out become null. */
  upsert<Row extends Attributes>(entity: Entity<Row> | string, row: Row & { readonly id: string }): void
  delete(entity: Entity | string, id: string): void
  /** The present state, with what handlers changed before. Undefined when there is none. */
  get<Row = EntityRow>(
    entity: Entity<Row> | string,
    id: string,
  ): Promise<(Row & { readonly id: string }) | undefined>
  /** The states that meet all filters, in order of their ids; at most `limit`, default 1000. */
  list<Row = EntityRow>(
    entity: Entity<Row> | string,
    filters?: readonly EntityFilter[],
    options?: { readonly limit?: number },
  ): Promise<readonly (Row & { readonly id: string })[]>
}

/** What a handler is given: it gathers the records of one block. */
export interface Context {
  readonly block: Block
  readonly place: Place
  readonly meter: {
    Counter(name: string): MetricInstrument
    Gauge(name: string): { record(value: MetricValue, labels?: Labels): void }
  }
  readonly eventLogger: {
    /** Appends a row to the event log `name`. `distinctId`, `severity` and `message` are columns of their own. */
    emit(name: string, attributes?: Attributes): void
  }
  readonly store: EntityStore
  /** The same block at a further place, e.g. one log of it. */
  at(place: Place): Context
  /** Sends `data` to a webhook channel; an `Exporter` calls this. */
  export(name: string, channel: string, data: unknown): void
}

/** The records of one block, encoded, in order. */
export interface GatheredBlock {
  readonly context: Context
  readonly lines: readonly string[]
  /** What the block changed of entities. */
  readonly changes: EntityChanges
}

/** Where the store of a context reads from. */
export interface EntitySource {
  readonly reader: EntityReader
  /** Changes of earlier blocks that the service may not have yet. */
  readonly earlier: EntityChanges
}

/** Opens a context for `block`. The export positions start at 0 (EV-1), so a block is gathered once, as a whole. */
export function gatherBlock(block: Block, source: EntitySource): GatheredBlock {
  const changes = createEntityChanges()
  const layers = [changes, source.earlier]
  const lines: string[] = []
  const nextPosition = new Map<string, number>()
  const blockPlace = {
    chain: block.chain,
    blockNumber: block.number,
    timestampMicros: block.time.getTime() * 1000,
    ...(block.hash === undefined ? {} : { blockHash: block.hash }),
  }
  if (Number.isNaN(blockPlace.timestampMicros)) throw new TypeError('time of the block is not a valid date')

  function contextAt(place: Place): Context {
    const push = (record: object) => lines.push(encodeLine({ ...record, ...blockPlace, ...place }))
    const metric = (type: 'counter' | 'gauge', name: string, value: MetricValue, labels: Labels = {}) =>
      push({ type, name, value: encodeMetricValue(name, value), labels: encodeLabels(labels) })
    return {
      block,
      place,
      meter: {
        Counter: (name) => ({
          add: (value, labels) => metric('counter', name, value, labels),
          sub: (value, labels) => metric('counter', name, negate(value), labels),
        }),
        Gauge: (name) => ({ record: (value, labels) => metric('gauge', name, value, labels) }),
      },
      eventLogger: {
        emit(name, all = {}) {
          const { distinctId, severity, message, ...attributes } = all
          push({
            type: 'event',
            name,
            distinctId,
            severity,
            message,
            attributes: encodeAttributes(attributes),
          })
        },
      },
      store: {
        upsert(entity, { id, ...attributes }) {
          push({ type: 'upsert', name: nameOf(entity), id, attributes: encodeAttributes(attributes) })
          changes.set(block.chain, nameOf(entity), id, storedForm(id, attributes))
        },
        delete(entity, id) {
          push({ type: 'delete', name: nameOf(entity), id })
          changes.set(block.chain, nameOf(entity), id, null)
        },
        get: async <Row>(entity: Entity<Row> | string, id: string) =>
          (await getEntity(source.reader, layers, block.chain, nameOf(entity), id)) as
            (Row & { readonly id: string }) | undefined,
        list: async <Row>(
          entity: Entity<Row> | string,
          filters: readonly EntityFilter[] = [],
          { limit = 1000 }: { readonly limit?: number } = {},
        ) =>
          (await listEntities(source.reader, layers, block.chain, nameOf(entity), filters, limit)) as (Row & {
            readonly id: string
          })[],
      },
      at: (further) => contextAt({ ...place, ...further }),
      export(name, channel, data) {
        const position = nextPosition.get(channel) ?? 0
        nextPosition.set(channel, position + 1)
        push({ type: 'export', name, channel, data, position })
      },
    }
  }
  return { context: contextAt({}), lines, changes }
}

function nameOf(entity: { readonly entityName: string } | string): string {
  return typeof entity === 'string' ? entity : entity.entityName
}

function negate(value: MetricValue): MetricValue {
  if (typeof value === 'number' || typeof value === 'bigint') return -value
  const text = value.toFixed()
  return { toFixed: () => (text.startsWith('-') ? text.slice(1) : `-${text}`) }
}
