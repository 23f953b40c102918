import type { Context } from './block-context.ts'
import type { Attributes, Labels, MetricValue } from './encode.ts'

/** A counter: what is added are deltas, its value is their running sum (MQ-3). */
export interface Counter {
  readonly name: string
  add(context: Context, value: MetricValue, labels?: Labels): void
  sub(context: Context, value: MetricValue, labels?: Labels): void
}

/** A gauge: what is recorded is its value from then on. */
export interface Gauge {
  readonly name: string
  record(context: Context, value: MetricValue, labels?: Labels): void
}

/** A kind of message for the webhook channel it was registered with (interface 2.8). */
export interface Exporter<Data = unknown> {
  readonly name: string
  readonly channel: string
  emit(context: Context, data: Data): void
}

/** A kind of entity. The names of its fields are those of its columns in SQL. Its instances are rows that know their kind. */
export interface Entity<Row = Attributes> {
  readonly entityName: string
  new (row: Row & { readonly id: string }): Row & { readonly id: string }
}

/** What existing processors say of a metric; the service needs none of it. */
interface MetricOptions {
  readonly unit?: string
  readonly description?: string
  readonly sparse?: boolean
}

/** Registers counters by name. */
export const Counter = {
  register(name: string, _options?: MetricOptions): Counter {
    return {
      name,
      add: (context, value, labels) => context.meter.Counter(name).add(value, labels),
      sub: (context, value, labels) => context.meter.Counter(name).sub(value, labels),
    }
  },
} as const

/** Registers gauges by name. */
export const Gauge = {
  register(name: string, _options?: MetricOptions): Gauge {
    return { name, record: (context, value, labels) => context.meter.Gauge(name).record(value, labels) }
  },
} as const

/** Registers exports by name and channel. Bigints in their data arrive as decimal strings. */
export const Exporter = {
  register<Data = unknown>(name: string, channel: string): Exporter<Data> {
    return { name, channel, emit: (context, data) => context.export(name, channel, data) }
  },
} as const

/** Registers kinds of entities by name, for `context.store`. */
export const Entity = {
  register<Row = Attributes>(entityName: string): Entity<Row> {
    const kind = class {
      static readonly entityName = entityName

      constructor(row: object) {
        Object.assign(this, row)
      }
    }
    return kind as unknown as Entity<Row>
  },
} as const
