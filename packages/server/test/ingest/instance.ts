import { setTimeout as sleep } from 'node:timers/promises'
import type { AnsweredWrites } from '../../src/cache/answered-writes.ts'
import { createFactStore } from '../../src/clickhouse/fact-store.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { createBatchStore, type ExportQueue } from '../../src/database/batch-store.ts'
import type { OpenDatabase } from '../../src/database/database.ts'
import { enqueueExports, withdrawExports } from '../../src/database/outbox.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import type { BatchStore } from '../../src/ingest/batch-store.ts'
import type { FactStore } from '../../src/ingest/fact-store.ts'
import { createIngest, type BatchRequest, type Ingest } from '../../src/ingest/ingest.ts'
import { DEFAULT_INGEST_LIMITS, type IngestLimits } from '../../src/ingest/ingest-limits.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import { randomId } from '../../src/platform/ids.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Project } from '../../src/projects/project.ts'
import type { TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'

export interface InstanceOptions {
  readonly engine: FactEngine
  readonly database: OpenDatabase
  readonly limits?: Partial<IngestLimits>
  readonly clock?: Clock
  readonly isSoleInstance?: boolean
  /** Lets small batches beside large ones be answered before they are stored. */
  readonly answered?: AnsweredWrites
  readonly sleep?: (ms: number) => Promise<unknown>
  /** Wraps the ports, e.g. to let the instance die at a step. */
  readonly wrapFacts?: (facts: FactStore) => FactStore
  readonly wrapBatches?: (batches: BatchStore) => BatchStore
  readonly exports?: ExportQueue
}

/** One instance of the write path on real engines. */
export function startInstance(options: InstanceOptions): Ingest {
  const { engine, database, clock = systemClock } = options
  const limits = { ...DEFAULT_INGEST_LIMITS, ...options.limits }
  const facts = createFactStore(engine, limits)
  const batches = createBatchStore(database.db, options.exports ?? { enqueueExports, withdrawExports })
  const projects = createProjectStore(database.db)
  return createIngest({
    facts: options.wrapFacts?.(facts) ?? facts,
    batches: options.wrapBatches?.(batches) ?? batches,
    versions: {
      versions: (id) => projects.versions(id),
      ensureFirstVersion: (id) => projects.ensureFirstVersion(id, clock.now()),
    },
    limits,
    clock,
    sleep: options.sleep ?? sleep,
    ...(options.answered ? { answered: options.answered } : {}),
    instance: randomId(),
    newBatchId: () => randomId(),
    isSoleInstance: options.isSoleInstance ?? true,
    log: silentLogger,
  })
}

let projectCount = 0

/** A project of its own, with version 1 active. */
export async function createTestProject(database: OpenDatabase): Promise<Project> {
  const store = createProjectStore(database.db)
  projectCount++
  const name = `p${projectCount}`
  const project = await store.insert({ owner: 'test', name, type: 'processor', isPublic: false }, 0)
  if (!project) throw new Error(`${name} exists`)
  await store.ensureFirstVersion(project.id, 0)
  return { ...project, activeVersion: 1 }
}

/** A request that holds `records` as JSON. */
export function jsonBatch(records: readonly unknown[], batchId: string | null = null): BatchRequest {
  return textBatch(JSON.stringify({ records }), batchId)
}

/** A request with this text as its body. */
export function textBatch(
  body: string,
  batchId: string | null = null,
  contentType = 'application/json',
): BatchRequest {
  return { body: Buffer.from(body), contentType, batchId, version: null }
}

/** The rows of a query over what the project's SQL users see. */
export async function userRows<Row = Record<string, unknown>>(
  engine: FactEngine,
  project: Project,
  sql: string,
): Promise<Row[]> {
  return engine.rows<Row>(sql, { database: `millrace_p${project.id}_v1` })
}

/** An instance with a project, on an engine and a control database of its own. */
export interface IngestFixture {
  readonly facts: TestEngine
  readonly database: TestDatabase
  readonly ingest: Ingest
  readonly project: Project
  stop(): Promise<void>
}

/** Starts all that a test of the write path stands on. */
export async function startIngestFixture(open: () => Promise<TestDatabase>): Promise<IngestFixture> {
  const facts = await startTestEngine()
  const database = await open()
  const ingest = startInstance({ engine: facts.engine, database })
  const project = await createTestProject(database)
  const stop = async (): Promise<void> => {
    await ingest.stop()
    await database.close()
    await facts.stop()
  }
  return { facts, database, ingest, project, stop }
}
