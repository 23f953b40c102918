import { createHash } from 'node:crypto'
import type { AttributeKind, MetricType } from '../ingest/batch.ts'
import { HOURLY_PROJECTION } from './series-source-rollup.ts'

/**
 * Where the facts of one processor version live. Two databases a version: `user` holds only views, and is the
 * default database of its SQL users; `facts` holds the tables behind them. Nothing else separates versions, so a
 * query sees exactly one (IN-4) and deleting a version is dropping both.
 */
export interface VersionDatabases {
  readonly user: string
  readonly facts: string
}

/** What the names of all databases of projects begin with; the id of the project follows. */
export const PROJECT_DATABASE_PREFIX = 'millrace_p'

/** The attributes of an event log or entity with their kinds, in the order of their columns. */
export type AttributeKinds = ReadonlyMap<string, AttributeKind>

/** Names of the databases of a project's processor version. */
export function versionDatabases(projectId: number, version: number): VersionDatabases {
  const user = `${PROJECT_DATABASE_PREFIX}${projectId}_v${version}`
  return { user, facts: `${user}_facts` }
}

/** A name as a ClickHouse identifier. Names may hold any character; back-ticks and backslashes are escaped. */
export function quoteIdentifier(name: string): string {
  return '`' + name.replaceAll('\\', '\\\\').replaceAll('`', '\\`') + '`'
}

/**
 * The table of an event log inside `facts`. The comment of the table is the name of the log; the comment of an attribute's
 * column is its kind.
 */
export function eventTable(name: string): string {
  return tableOfName('event_', name)
}

/** The table of what is called `name`, shortened only where no file could bear it. */
export function tableOfName(prefix: string, name: string): string {
  return prefix + nameAsFile(name)
}

/** The view under which SQL users see a metric, an event log or an entity: its name, shortened only where no file could bear it. */
export function userView(name: string): string {
  return nameAsFile(name)
}

// The engine keeps a table's definition in a file named after database and table (and after both and an id once it is
// dropped), with every byte outside [A-Za-z0-9_] as %XX; a file's name has at most 255 bytes.
const LONGEST_FILE_PART = 150
const SHORTENED_PREFIX = 130

function nameAsFile(name: string): string {
  if (fileLength(name) <= LONGEST_FILE_PART) return name
  let prefix = ''
  let length = 0
  for (const character of name) {
    length += fileLength(character)
    if (length > SHORTENED_PREFIX) break
    prefix += character
  }
  return `${prefix}_${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}

function fileLength(text: string): number {
  const plain = text.replace(/[^A-Za-z0-9_]/g, '').length
  return plain + (Buffer.byteLength(text) - plain) * 3
}

/** A text as a literal of ClickHouse SQL. */
export function quoteString(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\u0000', '\\0')}'`
}

/**
 * An insert is answered once its files are on the disk, not in the cache of the operating system: "durable" (IN-2) includes a power cut. What a
 * merge or a deletion makes of them has to be there too before they are removed, which the embedded engine does at once.
 */
export const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1'
/** Tokens of this many inserts are remembered; an insert is repeated within a minute or never. */
export const DEDUPLICATING = 'non_replicated_deduplication_window = 1000'
/**
 * A deletion writes the whole of each part that it touches, so parts stay small: about a million rows. A part counts for the rows that are
 * left in it, so that one that a rollback has emptied is merged away. A month of many samples has thousands of these: the engine, which slows
 * inserts down from 1000 parts on and refuses them from 3000 on, is to count those only that wait for a merge. Without the other two, merges and
 * deletions wait for a pool larger than the embedded engine's.
 */
export function smallParts(maxMegabytes: number): string {
  return `max_bytes_to_merge_at_max_space_in_pool = ${maxMegabytes * 1_000_000}, number_of_free_entries_in_pool_to_execute_mutation = 0, number_of_free_entries_in_pool_to_lower_max_size_of_merge = 1, exclude_deleted_rows_for_part_size_in_merge = 1, max_avg_part_size_for_too_many_parts = ${maxMegabytes * 125_000}`
}
const POINT_PARTS = smallParts(8)
const EVENT_PARTS = smallParts(64)

/**
 * The hours of parts that a deletion touches are dropped until the next merge makes them anew; meanwhile the engine reads their samples.
 * Not by `materialize projection`: it counts the deleted samples in (measured with 26.7).
 */
const EXACT_PROJECTIONS = `lightweight_mutation_projection_mode = 'drop', deduplicate_merge_projection_mode = 'rebuild'`
/** Merges make the hours, not inserts: half the work of an insert. For engines that have both settings. */
const HOURS_ON_MERGE = 'materialize_projections_on_insert = 0, materialize_projections_on_merge = 1'

/** The projection of `points` that holds the hours. */
export const HOURS = 'hours'

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
     ) engine = ReplacingMergeTree order by (metric, series_id) settings ${DURABLE}`,
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
       settings index_granularity = 2048, ${DURABLE}, ${DEDUPLICATING}, ${EXACT_PROJECTIONS}`,
    // Tables made before these were known.
    `alter table ${database}.points modify setting ${EXACT_PROJECTIONS}, ${POINT_PARTS}`,
    addHours(facts),
  ]
}

/** Lets `points` keep hours, of new samples only. */
export function addHours(facts: string): string {
  return `alter table ${quoteIdentifier(facts)}.points add projection if not exists ${HOURS} (${HOURLY_PROJECTION})`
}

/** Lets merges make the hours of samples, where the engine can. */
export function hoursOnMerge(facts: string): string {
  return `alter table ${quoteIdentifier(facts)}.points modify setting ${HOURS_ON_MERGE}`
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

/** The column of an event log that names the accepted batch. An attribute cannot take it: clean names have no `$` (IN-5). */
export const EVENT_BATCH_COLUMN = '$batch'

/** Types of attribute columns by kind. All are nullable: a row need not have every attribute of its log. */
export const ATTRIBUTE_COLUMN_TYPES = {
  string: 'Nullable(String)',
  number: 'Nullable(Float64)',
  boolean: 'Nullable(Bool)',
  int: 'Nullable(Int256)',
  uint: 'Nullable(UInt256)',
  decimal: 'Nullable(Decimal(76, 30))',
  time: `Nullable(DateTime64(6, 'UTC'))`,
  json: 'Nullable(String)',
} as const

/** Makes the table of an event log without attributes. */
export function createEventTable(facts: string, name: string): string {
  const columns = Object.entries(EVENT_COLUMNS).map(([column, type]) => `${column} ${type} codec(ZSTD(1))`)
  return `create table if not exists ${quoteIdentifier(facts)}.${quoteIdentifier(eventTable(name))} (
    ${columns.join(',\n    ')},
    ${quoteIdentifier(EVENT_BATCH_COLUMN)} UInt64 codec(ZSTD(1))
  ) engine = MergeTree partition by toYYYYMM(timestamp) order by (timestamp, block_number, log_index)
  settings ${DURABLE}, ${DEDUPLICATING}, ${EVENT_PARTS}
  comment ${quoteString(name)}`
}

/** What SQL users see of an event log: its own columns and its attributes. */
export function eventView(
  { user, facts }: VersionDatabases,
  name: string,
  attributes: AttributeKinds,
): string {
  const columns = [...Object.keys(EVENT_COLUMNS), ...attributes.keys()].map(quoteIdentifier)
  return `create or replace view ${quoteIdentifier(user)}.${quoteIdentifier(userView(name))} (${declareColumns(EVENT_COLUMNS, attributes)}) as
    select ${columns.join(', ')} from ${quoteIdentifier(facts)}.${quoteIdentifier(eventTable(name))}`
}

/** The columns of a view. Those that hold JSON say so in their comment, as they are texts to the engine. */
export function declareColumns(
  columns: Readonly<Record<string, string>>,
  attributes: AttributeKinds,
  columnsBehind: Readonly<Record<string, string>> = {},
): string {
  return [
    ...declare(columns),
    ...[...attributes].map(
      ([attribute, kind]) =>
        `${quoteIdentifier(attribute)} ${ATTRIBUTE_COLUMN_TYPES[kind]} comment ${quoteString(commentOf(kind))}`,
    ),
    ...declare(columnsBehind),
  ].join(', ')
}

function declare(columns: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(columns).map(([column, type]) => `${quoteIdentifier(column)} ${type}`)
}

/** The comment of a column that SQL users see. */
export function commentOf(kind: AttributeKind): string {
  return kind === 'json' ? 'json' : ''
}

/**
 * What SQL users see of a metric: its samples with the labels of their series. `exact` has the digits of values that a Float64
 * rounds, else it is empty. Its comment is the type of the metric: the engine makes one view of a name, so of instances that make the metric
 * at the same time with `if not exists`, one decides.
 */
export function metricView(
  { user, facts }: VersionDatabases,
  metric: string,
  type: MetricType,
  isNew = false,
): string {
  const database = quoteIdentifier(facts)
  return `create ${isNew ? 'view if not exists' : 'or replace view'} ${quoteIdentifier(user)}.${quoteIdentifier(userView(metric))} as
    select timestamp, value, exact, chain, block_number, contract_name, contract_address, labels
    from ${database}.points as points
    any left join (
      select series_id, labels, labels['contract_name'] as contract_name, labels['contract_address'] as contract_address
      from ${database}.series where metric = ${quoteString(metric)}
    ) as series using (series_id)
    where metric = ${quoteString(metric)}
    comment ${quoteString(type)}`
}
