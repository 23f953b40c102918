import type { Context } from './block-context.ts'
import type { Attributes, Labels, MetricOptions, MetricValue } from './encode.ts'

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

/** Registers counters by name, with what the list of metrics shows of them. */
export const Counter = {
  register(name: string, options?: MetricOptions): Counter {
    return {
      name,
      add: (context, value, labels) => context.meter.Counter(name, options).add(value, labels),
      sub: (context, value, labels) => context.meter.Counter(name, options).sub(value, labels),
    }
  },
} as const

/** Registers gauges by name, with what the list of metrics shows of them. */
export const Gauge = {
  register(name: string, options?: MetricOptions): Gauge {
    return {
      name,
      record: (context, value, labels) => context.meter.Gauge(name, options).record(value, labels),
    }
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
