import type { IngestRecord } from './wire.ts'
import { createContextStore, type EntitySource, type EntityStore } from './context-store.ts'
import {
  encodeEvent,
  encodeLabels,
  encodeLine,
  encodeMetric,
  encodeMetricValue,
  type Attributes,
  type Labels,
  type MetricOptions,
  type MetricValue,
} from './encode.ts'
import { createEntityChanges, type EntityChanges } from './entity-store.ts'
import { isDecimalLike } from './exact-decimal.ts'

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

/** What a handler is given: it gathers the records of one block. */
export interface Context {
  readonly block: Block
  readonly place: Place
  readonly meter: {
    Counter(name: string, options?: MetricOptions): MetricInstrument
    Gauge(name: string, options?: MetricOptions): { record(value: MetricValue, labels?: Labels): void }
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
  /** What it says of metrics, by their names. */
  readonly metrics: ReadonlyMap<string, string>
  /** What the block changed of entities. */
  readonly changes: EntityChanges
}

/** Opens a context for `block`. The export positions start at 0 (EV-1), so a block is gathered once, as a whole. */
export function gatherBlock(block: Block, source: EntitySource): GatheredBlock {
  const changes = createEntityChanges()
  const lines: string[] = []
  const metrics = new Map<string, string>()
  const nextPosition = new Map<string, number>()
  const blockPlace = {
    chain: block.chain,
    blockNumber: block.number,
    timestampMicros: block.time.getTime() * 1000,
    ...(block.hash === undefined ? {} : { blockHash: block.hash }),
  }
  if (Number.isNaN(blockPlace.timestampMicros)) throw new TypeError('time of the block is not a valid date')

  function contextAt(place: Place): Context {
    const push = (record: IngestRecord) => lines.push(encodeLine({ ...record, ...blockPlace, ...place }))
    const metric = (type: 'counter' | 'gauge', name: string, options?: MetricOptions) => {
      const said = encodeMetric(name, options)
      if (said) metrics.set(name, encodeLine(said))
      return (value: MetricValue, labels: Labels = {}) =>
        push({ type, name, value: encodeMetricValue(name, value), labels: encodeLabels(labels) })
    }
    return {
      block,
      place,
      meter: {
        Counter: (name, options) => {
          const add = metric('counter', name, options)
          return { add, sub: (value, labels) => add(negate(value), labels) }
        },
        Gauge: (name, options) => ({ record: metric('gauge', name, options) }),
      },
      eventLogger: {
        emit: (name, attributes = {}) => push({ type: 'event', name, ...encodeEvent(attributes) }),
      },
      store: createContextStore(block.chain, source, changes, push),
      at: (further) => contextAt({ ...place, ...further }),
      export(name, channel, data) {
        const position = nextPosition.get(channel) ?? 0
        nextPosition.set(channel, position + 1)
        push({ type: 'export', name, channel, data, position })
      },
    }
  }
  return { context: contextAt({}), lines, metrics, changes }
}

function negate(value: MetricValue): MetricValue {
  if (typeof value === 'number' || typeof value === 'bigint') return -value
  if (!isDecimalLike(value)) return value
  const text = value.toFixed()
  return { toFixed: () => (text.startsWith('-') ? text.slice(1) : `-${text}`) }
}
