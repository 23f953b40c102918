/** A name may have this many characters (IN-5). */
export const MAX_NAME_LENGTH = 512
/** So many may the unit and the help of a metric have. */
export const MAX_UNIT_LENGTH = 64
export const MAX_HELP_LENGTH = 1024

/** Labels that every sample gets from its place; a record may not set them itself (MQ-4). */
export const RESERVED_LABELS: ReadonlySet<string> = new Set(['chain', 'contract_name', 'contract_address'])

/** The columns that every event log has; its attributes may not be named like one of them. */
export const RESERVED_ATTRIBUTES: ReadonlySet<string> = new Set([
  'timestamp',
  'block_number',
  'block_hash',
  'transaction_hash',
  'transaction_index',
  'log_index',
  'chain',
  'address',
  'contract',
  'distinct_id',
  'severity',
  'message',
])

/** The columns that every entity has are its id and names that begin so; its attributes may not. */
export const ENTITY_COLUMN_PREFIX = '__'
