import type { AttributeKind, AttributeRow, Batch, EntityChange, EventRow } from '../ingest/batch.ts'
import {
  createEntityTable,
  ENTITY_COLUMNS,
  ENTITY_VIEW_COLUMNS,
  entityHistory,
  entityTable,
  entityViews,
} from './entity-layout.ts'
import { entityFields, eventFields } from './fact-store-rows.ts'
import {
  createEventTable,
  EVENT_BATCH_COLUMN,
  EVENT_COLUMNS,
  eventTable,
  eventView,
  type AttributeKinds,
  type VersionDatabases,
} from './layout.ts'

/** Attributes and their kinds by name of the event log or entity. */
export type KnownAttributes = Map<string, Map<string, AttributeKind>>

/** One sort of tables that grow a column for every attribute: those of event logs, or those of entities. */
export interface AttributeTables<Row extends AttributeRow = AttributeRow> {
  readonly noun: 'event log' | 'entity'
  readonly plural: string
  readonly prefix: 'event_' | 'entity_'
  readonly limit: 'maxEventLogs' | 'maxEntities'
  /** Columns that are no attributes, in the order of `fields`. */
  readonly columns: readonly string[]
  /** So many columns does the view of one without attributes have. */
  readonly viewColumns: number
  tableOf(name: string): string
  /** Names that SQL users see for one. */
  shownNames(name: string): readonly string[]
  create(facts: string, name: string): string
  views(databases: VersionDatabases, name: string, attributes: AttributeKinds): readonly string[]
  /** What of a batch goes into these tables, by name. */
  rowsOf(batch: Batch): ReadonlyMap<string, readonly Row[]>
  /** A row's `columns`, joined by commas, as JSONCompactEachRow has them. */
  fields(row: Row, sequence: number): string
}

/** What is known of the tables of each sort. */
export type KnownTables = Readonly<Record<AttributeTables['noun'], KnownAttributes>>

const EVENT_LOGS: AttributeTables<EventRow> = {
  noun: 'event log',
  plural: 'event logs',
  prefix: 'event_',
  limit: 'maxEventLogs',
  columns: [...Object.keys(EVENT_COLUMNS), EVENT_BATCH_COLUMN],
  viewColumns: Object.keys(EVENT_COLUMNS).length,
  tableOf: eventTable,
  shownNames: (name) => [name],
  create: createEventTable,
  views: (databases, name, attributes) => [eventView(databases, name, attributes)],
  rowsOf: ({ events }) => events,
  fields: eventFields,
}

const ENTITIES: AttributeTables<EntityChange> = {
  noun: 'entity',
  plural: 'entities',
  prefix: 'entity_',
  limit: 'maxEntities',
  columns: Object.keys(ENTITY_COLUMNS),
  viewColumns: ENTITY_VIEW_COLUMNS,
  tableOf: entityTable,
  shownNames: (name) => [name, entityHistory(name)],
  create: createEntityTable,
  views: entityViews,
  rowsOf: ({ entities }) => entities,
  fields: entityFields,
}

/** All sorts of tables with attributes. */
export const ATTRIBUTE_TABLES: readonly AttributeTables[] = [EVENT_LOGS, ENTITIES]
