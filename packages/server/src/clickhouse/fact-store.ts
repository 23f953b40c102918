import { ownerKey } from '../cache/data-version-store.ts'
import type { Batch, ProjectVersion } from '../ingest/batch.ts'
import type { FactStore } from '../ingest/fact-store.ts'
import { DEFAULT_INGEST_LIMITS, type IngestLimits } from '../ingest/ingest-limits.ts'
import { refuseIfAny } from '../ingest/refused-records.ts'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'
import { eraseFrom, rollbackCondition } from './fact-store-erase.ts'
import { ATTRIBUTE_TABLES } from './attribute-tables.ts'
import { checkAttributes, growAttributes, hasOnlyKnownAttributes } from './fact-store-attributes.ts'
import { hasOnlyKnownMetadata, storeMetadata } from './fact-store-metadata.ts'
import { findNamesOfTwo } from './fact-store-names.ts'
import { batchColumn, loadSchema, tablesWithBatches, type VersionSchema } from './fact-store-schema.ts'
import { checkSeries, hasOnlyKnownSeries, storeSeries } from './fact-store-series.ts'
import { quoteIdentifier, versionDatabases } from './layout.ts'
import { mendHours } from './mend-hours.ts'
import { awaitRunningInserts } from './running-inserts.ts'
import { writeBatches } from './fact-store-write.ts'

const DROP_TIMEOUT_MS = 600_000
/** Schemas of so many versions are remembered. */
const MAX_SCHEMAS = 200

/** Facts in ClickHouse, embedded or a server. */
export function createFactStore(given: FactEngine, limits: IngestLimits = DEFAULT_INGEST_LIMITS): FactStore {
  const engine = withOwnMistakes(given)
  const schemas = new Map<string, Promise<VersionSchema>>()
  /** One batch of a version at a time makes room, so that two cannot make the same name in two ways. */
  const preparing = new Map<string, Promise<unknown>>()

  function schemaOf(version: ProjectVersion): Promise<VersionSchema> {
    const key = ownerKey(version)
    const known = schemas.get(key)
    if (known) return known
    if (schemas.size >= MAX_SCHEMAS) schemas.clear()
    const loading = loadSchema(engine, version)
    schemas.set(key, loading)
    loading.catch(() => schemas.delete(key))
    return loading
  }

  async function isPrepared(version: ProjectVersion, batch: Batch): Promise<boolean> {
    const schema = await schemaOf(version)
    // Whoever makes room now may be about to change the kind of a column.
    if (batch.events.size + batch.entities.size > 0 && preparing.has(ownerKey(version))) return false
    return (
      hasOnlyKnownSeries(schema, batch) &&
      hasOnlyKnownMetadata(schema, batch) &&
      ATTRIBUTE_TABLES.every((tables) => hasOnlyKnownAttributes(schema, tables, batch))
    )
  }

  async function prepareNow(version: ProjectVersion, batch: Batch): Promise<readonly string[]> {
    const schema = await schemaOf(version)
    try {
      // Everything is checked before anything is made, so that a refused batch leaves nothing behind (IN-2).
      const faults = [...findNamesOfTwo(batch)]
      for (const tables of ATTRIBUTE_TABLES) {
        await checkAttributes(engine, schema, tables, batch, limits, faults)
      }
      const series = await checkSeries(engine, schema, batch, limits, faults)
      refuseIfAny(faults)
      const warnings: string[] = []
      for (const tables of ATTRIBUTE_TABLES) {
        warnings.push(...(await growAttributes(engine, schema, tables, batch, limits)))
      }
      warnings.push(...(await storeSeries(engine, schema, batch, series)))
      return [...warnings, ...(await storeMetadata(engine, schema, batch, limits))]
    } catch (error) {
      // It may have failed half-way: what the engine holds now is read again, and missing views are made.
      if (!isRefusal(error)) schemas.delete(ownerKey(version))
      throw error
    }
  }

  return {
    tablesOf: (batch) => [
      ...(batch.samples.length > 0 ? ['points'] : []),
      ...ATTRIBUTE_TABLES.flatMap((tables) =>
        [...tables.rowsOf(batch).keys()].map((name) => tables.tableOf(name)),
      ),
    ],

    isPrepared,

    prepare: async (version, batch) => {
      const { samples, metadata, events, entities } = batch
      if (samples.length + metadata.size + events.size + entities.size === 0) return []
      // A batch that makes nothing need not wait until others have made what is new in theirs.
      if (await isPrepared(version, batch)) return []
      const before = preparing.get(ownerKey(version))
      const prepared = (async () => {
        await before?.catch(() => undefined)
        return prepareNow(version, batch)
      })()
      preparing.set(ownerKey(version), prepared)
      try {
        return await prepared
      } finally {
        if (preparing.get(ownerKey(version)) === prepared) preparing.delete(ownerKey(version))
      }
    },

    write: async (version, batches, attempt) => {
      try {
        await writeBatches(engine, await schemaOf(version), batches, attempt)
      } catch (error) {
        // Another instance may have changed a column's type meanwhile: the next try reads it afresh.
        schemas.delete(ownerKey(version))
        throw error
      }
    },

    erase: async (version, sequences, tables) => {
      const { facts } = versionDatabases(version.projectId, version.version)
      await awaitRunningInserts(engine, facts)
      const existing = new Set(await tablesWithBatches(engine, facts))
      const written = tables.filter((each) => existing.has(each))
      await eraseFrom(engine, facts, written, (table) => `${batchColumn(table)} in (${sequences.join(', ')})`)
    },

    rollBack: async (version, rollback) => {
      const { facts } = versionDatabases(version.projectId, version.version)
      const tables = await tablesWithBatches(engine, facts)
      await eraseFrom(engine, facts, tables, (table) => rollbackCondition(table, rollback))
    },

    mendHours: () => mendHours(engine),

    dropVersion: async (version) => {
      const { user, facts } = versionDatabases(version.projectId, version.version)
      for (const name of [user, facts]) {
        await engine.command(`drop database if exists ${quoteIdentifier(name)}`, {
          timeoutMs: DROP_TIMEOUT_MS,
        })
      }
      schemas.delete(ownerKey(version))
    },

    findVersions: async () => {
      const rows = await engine.rows<{ project: string; version: string }>(
        `select distinct extractGroups(name, '^millrace_p([0-9]+)_v([0-9]+)(_facts)?$') as found, found[1] as project, found[2] as version
         from system.databases where project != ''`,
      )
      return rows.map(({ project, version }) => ({ projectId: Number(project), version: Number(version) }))
    },

    dropProject: async (projectId) => {
      const rows = await engine.rows<{ name: string }>(
        `select name from system.databases where match(name, {pattern:String})`,
        { parameters: { pattern: `^millrace_p${projectId}_v[0-9]+(_facts)?$` } },
      )
      for (const { name } of rows) await engine.command(`drop database if exists ${quoteIdentifier(name)}`)
      for (const key of schemas.keys()) if (key.startsWith(`${projectId}/`)) schemas.delete(key)
    },
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'invalid_argument'
}

/** Statements here are ours, not the user's: one that the engine does not understand is a defect, not a bad request. */
function withOwnMistakes(engine: FactEngine): FactEngine {
  return {
    ...engine,
    rows: (sql, options) => guard(engine.rows(sql, options)),
    command: (sql, options) => guard(engine.command(sql, options)),
    insert: (insert, options) => guard(engine.insert(insert, options)),
  }
}

async function guard<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new ServiceError('internal', 'the facts could not be stored', { cause: error })
  }
}
