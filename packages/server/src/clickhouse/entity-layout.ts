import {
  DEDUPLICATING,
  DURABLE,
  declareColumns,
  quoteIdentifier,
  quoteString,
  smallParts,
  tableOfName,
  userView,
  type AttributeKinds,
  type VersionDatabases,
} from './layout.ts'

/** The table of an entity inside `facts`: every change of its state, by place. Its comment is the entity's name. */
export function entityTable(name: string): string {
  return tableOfName('entity_', name)
}

/** The name under which SQL users see all states that an entity ever had. */
export function entityHistory(name: string): string {
  return `${name}_history`
}

/** Columns every entity table starts with, in order. Clean names have no `$`, so no attribute meets them (IN-5). */
export const ENTITY_COLUMNS = {
  id: 'String',
  $chain: 'LowCardinality(String)',
  $block_number: 'UInt64',
  $timestamp: `DateTime64(6, 'UTC')`,
  $block_hash: 'String',
  $transaction_hash: 'String',
  $transaction_index: 'UInt32',
  $log_index: 'UInt32',
  $contract: 'LowCardinality(String)',
  $address: 'LowCardinality(String)',
  $deleted: 'Bool',
  $position: 'UInt32',
  $batch: 'UInt64',
} as const

/** Changes in the order in which they happened; those of one place by the order of arrival. */
const ORDER = ['$block_number', '$transaction_index', '$log_index', '$batch', '$position'] as const

/** Columns that SQL users see besides the id and the attributes, as `__chain` and so on. */
const SHOWN = [
  '$chain',
  '$block_number',
  '$timestamp',
  '$block_hash',
  '$transaction_hash',
  '$transaction_index',
  '$log_index',
  '$contract',
  '$address',
] as const

/** So many columns does the current state of an entity without attributes have. */
export const ENTITY_VIEW_COLUMNS = 1 + SHOWN.length

/** Makes the table of an entity without attributes. */
export function createEntityTable(facts: string, name: string): string {
  const columns = Object.entries(ENTITY_COLUMNS).map(
    ([column, type]) => `${quoteIdentifier(column)} ${type} codec(ZSTD(1))`,
  )
  const key = ['$chain', 'id', ...ORDER].map(quoteIdentifier)
  return `create table if not exists ${quoteIdentifier(facts)}.${quoteIdentifier(entityTable(name))} (
    ${columns.join(',\n    ')}
  ) engine = MergeTree order by (${key.join(', ')})
  settings index_granularity = 1024, ${DURABLE}, ${DEDUPLICATING}, ${smallParts(64)}
  comment ${quoteString(name)}`
}

/**
 * What SQL users see of an entity: under its name the present state of those that are not deleted, and under
 * `<name>_history` every state with the place where it began. As nothing but changes is stored, a rollback
 * makes the state before it visible again (IN-3). A filter by id reaches the primary key through `limit by`.
 */
export function entityViews(
  { user, facts }: VersionDatabases,
  name: string,
  attributes: AttributeKinds,
): readonly string[] {
  const table = `${quoteIdentifier(facts)}.${quoteIdentifier(entityTable(name))}`
  const place = SHOWN.map((column) => `${quoteIdentifier(column)} as ${quoteIdentifier(shownAs(column))}`)
  const columns = ['id', ...attributes.keys()].map(quoteIdentifier)
  const id = { id: ENTITY_COLUMNS.id }
  const deleted = { __deleted: ENTITY_COLUMNS.$deleted }
  const shown = Object.fromEntries(SHOWN.map((column) => [shownAs(column), ENTITY_COLUMNS[column]]))
  const newestFirst = ORDER.map((column) => `${quoteIdentifier(column)} desc`).join(', ')
  return [
    `create or replace view ${quoteIdentifier(user)}.${quoteIdentifier(userView(name))} (${declareColumns(id, attributes, shown)}) as
      select ${[...columns, ...place].join(', ')} from (
        select * from ${table} order by \`$chain\`, id, ${newestFirst} limit 1 by \`$chain\`, id
      ) where not \`$deleted\``,
    `create or replace view ${quoteIdentifier(user)}.${quoteIdentifier(userView(entityHistory(name)))} (${declareColumns(id, attributes, { ...deleted, ...shown })}) as
      select ${[...columns, '`$deleted` as `__deleted`', ...place].join(', ')} from ${table}`,
  ]
}

function shownAs(column: string): string {
  return column.replace('$', '__')
}
