/**
 * The wire as far as the SDK speaks it, so that the package needs no other. Written by `npm run reference` from
 * `packages/contract`; a test keeps them equal.
 */

export interface CounterRecord {
  readonly type: 'counter'
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value:
    | number
    | {
        readonly $int: string
      }
    | {
        readonly $decimal: string
      }
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export interface MetricRecord {
  readonly type: 'metric'
  readonly name: string
  /** E.g. "ETH", "s", "By". */
  readonly unit?: string
  /** What is measured, for people. */
  readonly help?: string
}

export interface GaugeRecord {
  readonly type: 'gauge'
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value:
    | number
    | {
        readonly $int: string
      }
    | {
        readonly $decimal: string
      }
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export interface EventRecord {
  readonly type: 'event'
  readonly name: string
  readonly distinctId?: string
  readonly severity?: string
  readonly message?: string
  readonly attributes?: Readonly<Record<string, unknown>>
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export interface UpsertRecord {
  readonly type: 'upsert'
  /** Of the entity, e.g. "Account". */
  readonly name: string
  /** Tells the entity from others of its name and chain. */
  readonly id: string
  readonly attributes?: Readonly<Record<string, unknown>>
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export interface DeleteRecord {
  readonly type: 'delete'
  /** Of the entity, e.g. "Account". */
  readonly name: string
  /** Tells the entity from others of its name and chain. */
  readonly id: string
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export interface ExportRecord {
  readonly type: 'export'
  readonly name: string
  readonly channel: string
  readonly data: unknown
  readonly position?: number
  /** Chain id, e.g. "1" or "solana_mainnet". */
  readonly chain?: string
  readonly blockNumber?: number
  /** Time of the block or event, microseconds since 1970 UTC. */
  readonly timestampMicros?: number
  /** The same as RFC 3339, instead of timestampMicros. */
  readonly time?: string
  readonly blockHash?: string
  readonly transactionHash?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  /** Name of the contract. */
  readonly contract?: string
  /** Address of the contract. */
  readonly address?: string
}

export type IngestRecord =
  CounterRecord | GaugeRecord | MetricRecord | EventRecord | UpsertRecord | DeleteRecord | ExportRecord

export interface IngestAnswer {
  readonly batchId: string
  readonly version: number
  /** Number of records. */
  readonly accepted: number
  /** True when the batch had been accepted before. */
  readonly isRepeated: boolean
  readonly warnings: readonly string[]
}

export interface RollbackAnswer {
  readonly version: number
  /** Pending webhook messages that will not be sent. */
  readonly withdrawnExports: number
}
