/**
 * Where the facts of one processor version live. Two databases a version: `user` holds only views, and is the
 * default database of its SQL users; `facts` holds the tables behind them. Nothing else separates versions, so a
 * query sees exactly one (IN-4) and deleting a version is dropping both.
 */
export interface VersionDatabases {
  readonly user: string
  readonly facts: string
}

/** Names of the databases of a project's processor version. */
export function versionDatabases(projectId: number, version: number): VersionDatabases {
  const user = `millrace_p${projectId}_v${version}`
  return { user, facts: `${user}_facts` }
}

/** A name as a ClickHouse identifier. Names may hold any character; back-ticks and backslashes are escaped. */
export function quoteIdentifier(name: string): string {
  return '`' + name.replaceAll('\\', '\\\\').replaceAll('`', '\\`') + '`'
}

/** The table of an event log inside `facts`. */
export function eventTable(name: string): string {
  return `event_${name}`
}

/**
 * Tables of every `facts` database.
 *
 * `points` is the samples, narrow: a counter's `value` is a delta, a gauge's is its value (MQ-3). `ordinal` orders
 * samples of one time by their place in the block (transaction, log, position), so that "last" does not depend on the
 * order of arrival. `batch` names the accepted batch, so that an interrupted one can be taken back (IN-2).
 * `exact` holds the value's digits where a Float64 cannot (IN-6), else it is empty.
 * Codecs: Delta+ZSTD(1) took 4.0 bytes a sample on jittered block times, DoubleDelta+Gorilla 5 to 6.
 */
export function factTables(facts: string): readonly string[] {
  const database = quoteIdentifier(facts)
  return [
    `create table if not exists ${database}.series (
       metric String,
       series_id UInt64,
       type Enum8('counter' = 1, 'gauge' = 2),
       chain String,
       labels Map(String, String)
     ) engine = ReplacingMergeTree order by (metric, series_id)`,
    `create table if not exists ${database}.points (
       metric LowCardinality(String),
       series_id UInt64 codec(ZSTD(1)),
       timestamp DateTime64(6, 'UTC') codec(Delta, ZSTD(1)),
       value Float64 codec(ZSTD(1)),
       exact String codec(ZSTD(1)),
       chain LowCardinality(String),
       block_number UInt64 codec(Delta, ZSTD(1)),
       ordinal UInt64 codec(ZSTD(1)),
       batch UInt64 codec(ZSTD(1))
     ) engine = MergeTree partition by toYYYYMM(timestamp)
       order by (metric, toStartOfDay(timestamp), series_id, timestamp)
       settings index_granularity = 2048, non_replicated_deduplication_window = 1000`,
  ]
}

/** Columns every event table starts with, in order, with their types; `clients.md` names what callers expect. */
export const EVENT_COLUMNS = {
  timestamp: `DateTime64(6, 'UTC')`,
  block_number: 'UInt64',
  block_hash: 'String',
  transaction_hash: 'String',
  transaction_index: 'UInt32',
  log_index: 'UInt32',
  chain: 'LowCardinality(String)',
  address: 'LowCardinality(String)',
  contract: 'LowCardinality(String)',
  distinct_id: 'String',
  severity: 'LowCardinality(String)',
  message: 'String',
} as const
