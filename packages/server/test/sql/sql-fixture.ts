import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createCursorCodec } from '../../src/analytics/cursor.ts'
import { createAnalytics, type Analytics } from '../../src/analytics/analytics.ts'
import type { SqlAnswer, SqlRequest } from '../../src/analytics/run-sql.ts'
import type { SqlLimits } from '../../src/analytics/sql-limits.ts'
import type { CachePolicy } from '../../src/cache/cache-policy.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { createSqlEngine } from '../../src/clickhouse/sql-engine.ts'
import { createExecutionStore } from '../../src/database/execution-store.ts'
import { createSavedQueryStore } from '../../src/database/saved-query-store.ts'
import { sharedSecret } from '../../src/database/secret-store.ts'
import { createSqlSpool } from '../../src/database/sql-spool.ts'
import { buildApp } from '../../src/http/app.ts'
import { sqlExecuteRoute } from '../../src/http/routes/sql-execute.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Project } from '../../src/projects/project.ts'
import { openTestCache } from '../cache/test-cache.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'

/** A project as the SQL API is given it. */
export function sqlProject(id: number): Project {
  return {
    id,
    owner: 'demo',
    name: `p${id}`,
    type: 'processor',
    isPublic: false,
    activeVersion: 1,
  }
}

/** Tables behind views, as ingest lays them out: 1000 transfers and an event with an odd name. */
export async function fillProject(engine: FactEngine, project: Project): Promise<void> {
  const { user, facts } = versionDatabases(project.id, 1)
  for (const sql of [
    `drop database if exists ${user}`,
    `drop database if exists ${facts}`,
    `create database ${user}`,
    `create database ${facts}`,
    `create table ${facts}.event_Transfer
       (id UInt64, timestamp DateTime64(6, 'UTC'), chain LowCardinality(String), amount UInt256, address String)
       engine = MergeTree order by id`,
    `create view ${user}.Transfer as select * from ${facts}.event_Transfer`,
    `create table ${facts}.event_odd (value Float64) engine = MergeTree order by tuple()`,
    `create view ${user}.\`odd name\` as select * from ${facts}.event_odd`,
    `insert into ${facts}.event_Transfer
       select number, toDateTime64('2024-01-01 00:00:00', 6, 'UTC') + number, ['1', '10'][1 + number % 2],
         toUInt256(number) * toUInt256('1000000000000000000000'), hex(number) from numbers(1000)`,
    `insert into ${facts}.event_odd values (1.5), (2.5)`,
  ]) {
    await engine.command(sql)
  }
}

export const DEFAULT_POLICY: CachePolicy = {
  ttlSeconds: 1000,
  refreshTtlSeconds: 1000,
  isBypassed: false,
  isRefreshForced: false,
}
const BYPASS: CachePolicy = { ...DEFAULT_POLICY, isBypassed: true }

/** An answer whose rows are values. */
export interface ReadAnswer extends Omit<SqlAnswer, 'page'> {
  readonly page: Omit<SqlAnswer['page'], 'rows'> & { readonly rows: readonly unknown[] }
}

export interface SqlFixture {
  readonly analytics: Analytics
  run(
    request: Partial<SqlRequest>,
    options?: { project?: Project; policy?: CachePolicy; signal?: AbortSignal },
  ): Promise<ReadAnswer>
  /** Every page, following the cursor. */
  pages(request: Partial<SqlRequest>): Promise<ReadAnswer[]>
  /** Resolves when the control database has every page that is cached. */
  stored(): Promise<void>
}

/** A request that names nothing. */
export const EMPTY_REQUEST: SqlRequest = {
  sql: null,
  name: null,
  queryId: null,
  pageSize: null,
  parameters: {},
  version: null,
  cursor: null,
  runId: null,
}

/** One instance of the SQL API on a fact engine and a control database. */
export async function createSqlFixture(
  engine: FactEngine,
  database: TestDatabase,
  project: Project,
  options: { clock: Clock; limits?: Partial<SqlLimits>; instance?: string },
): Promise<SqlFixture> {
  const { clock } = options
  const cache = openTestCache({ db: database.db, clock, log: { warn: () => undefined } })
  const analytics = createAnalytics({
    engine: createSqlEngine(engine),
    spool: createSqlSpool(database.db),
    executionStore: createExecutionStore(database.db),
    queries: createSavedQueryStore(database.db),
    cursors: createCursorCodec(await sharedSecret(database.db, 'sql-cursor', randomBytes(32))),
    cache: { through: cache.ask },
    clock,
    instance: options.instance ?? 'one',
    sleep: (ms) => setTimeout(ms),
    ...(options.limits ? { limits: options.limits } : {}),
  })
  const fixture: SqlFixture = {
    analytics,
    run: async (
      request,
      { project: other = project, policy = BYPASS, signal = new AbortController().signal } = {},
    ) => {
      const answer = await analytics.runSql(other, { ...EMPTY_REQUEST, ...request }, policy, signal)
      const rows = JSON.parse(`[${answer.page.rows.toString()}]`) as unknown[]
      return { ...answer, page: { ...answer.page, rows } }
    },
    async pages(request) {
      const answers = [await fixture.run(request)]
      for (let cursor = answers[0]?.cursor ?? ''; cursor !== ''; cursor = answers.at(-1)?.cursor ?? '') {
        answers.push(await fixture.run({ cursor }))
      }
      return answers
    },
    stored: cache.settled,
  }
  return fixture
}

/** The service with the SQL of one project, for whoever asks. */
export function buildSqlApp(analytics: Analytics, project: Project): Promise<FastifyInstance> {
  return buildApp({
    log: silentLogger,
    bodyLimitBytes: 100_000,
    routes: [sqlExecuteRoute({ analytics })],
    access: { check: () => Promise.resolve({ key: null, project }), recall: () => null },
    checkReady: () => Promise.resolve(),
  })
}

/** The SQL API with an engine and a control database of its own. */
export interface SqlTest {
  readonly test: TestEngine
  readonly database: TestDatabase
  readonly sql: SqlFixture
  stop(): Promise<void>
}

/** Starts all that a test of statements stands on: the tables of a project, and those of another one, which nothing may reach. */
export async function startSqlTest(
  own: Project,
  foreign: Project,
  limits: Partial<SqlLimits> = {},
): Promise<SqlTest> {
  const test = await startTestEngine()
  const database = await openSqlite()
  await fillProject(test.engine, own)
  await fillProject(test.engine, foreign)
  const sql = await createSqlFixture(test.engine, database, own, { clock: systemClock, limits })
  const stop = async (): Promise<void> => {
    await database.close()
    await test.stop()
  }
  return { test, database, sql, stop }
}
