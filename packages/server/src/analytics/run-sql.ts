import type { Cached, CachePolicy, CacheStats, ResultCache } from '../cache/cache-policy.ts'
import type { Clock } from '../platform/clock.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import type { ChunkReader } from './chunk-reader.ts'
import type { CursorCodec } from './cursor.ts'
import type { Page } from './page.ts'
import type { PreparedStatement, PrepareStatement } from './prepare-statement.ts'
import { readPage } from './read-page.ts'
import type { StatementRunner } from './run-statement.ts'
import { resolveQuery, type QueryReference, type SavedQueryStore } from './saved-query.ts'
import type { Spool } from './spool.ts'
import { choosePageSize, type SqlLimits } from './sql-limits.ts'
import { answerScope } from './statement-scope.ts'

/** A first request, or the cursor of a later one. */
export interface SqlRequest extends QueryReference {
  /** Processor version; null is the active one. */
  readonly version: number | null
  readonly cursor: string | null
  /** Names the run, so that its rows are counted and its progress can be asked for; null: neither. */
  readonly runId: string | null
}

/** A page, and the cursor of the next; empty behind the last. */
export interface SqlAnswer {
  readonly page: Page
  readonly cursor: string
  readonly stats: CacheStats
  readonly warnings: readonly string[]
  /** Absent behind a cursor, where every page is read from its kept result. */
  readonly cached?: Cached<Page>
}

export interface SqlDependencies {
  readonly prepare: PrepareStatement
  readonly runner: StatementRunner
  readonly queries: SavedQueryStore
  readonly spool: Spool
  readonly chunks: ChunkReader
  readonly cursors: CursorCodec
  readonly cache: ResultCache
  readonly clock: Clock
  readonly limits: SqlLimits
  sleep(ms: number): Promise<unknown>
}

/** Answers one request of the SQL API. */
export type RunSql = (
  project: Project,
  request: SqlRequest,
  policy: CachePolicy,
  signal: AbortSignal,
) => Promise<SqlAnswer>

/** The read flow of the SQL API: admit, then through the cache execute and spool; later pages come from the spool. */
export function createRunSql(dependencies: SqlDependencies): RunSql {
  const { prepare, runner, queries, spool, chunks, cursors, cache, clock, limits, sleep } = dependencies

  return async (project, request, policy, signal) => {
    const isReferring = request.sql !== null || request.name !== null || request.queryId !== null
    if (request.cursor !== null && isReferring) {
      throw invalidArgument('cursor must be the only field: sqlQuery.sql must not stand beside it')
    }
    if (request.cursor !== null) return continueResult(project, request.cursor, signal)
    return startResult(project, request, policy, signal)
  }

  async function continueResult(project: Project, text: string, signal: AbortSignal): Promise<SqlAnswer> {
    const startedAt = clock.monotonic()
    const { resultId, firstRow, pageSize } = cursors.decode(text, project.id)
    const limit = { rows: pageSize, bytes: limits.pageBytesMax }
    const start = { resultId, projectId: project.id, firstRow }
    const page = await readPage({ spool, chunks, now: clock.now, sleep }, start, limit, signal)
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    const stats = { computedAt: page.generatedAt, isCached: true, isRefreshing: false, computeCostMs }
    return { page, cursor: cursorOf(project, page, pageSize), stats, warnings: [] }
  }

  async function startResult(
    project: Project,
    request: SqlRequest,
    policy: CachePolicy,
    signal: AbortSignal,
  ): Promise<SqlAnswer> {
    const query = await resolveQuery(queries, project, request)
    const { pageSize, warnings } = choosePageSize(query.pageSize, limits)
    const prepared = await prepare(project, { ...query, version: request.version })
    const compute = async (): Promise<Page> => {
      const page = { rows: pageSize, bytes: limits.pageBytesMax }
      return (await runner.run(prepared, { page, signal, runId: request.runId ?? undefined })).page
    }
    const question = {
      key: keyOf(prepared, pageSize),
      owner: prepared.scope,
      scope: (nowMs: number) => answerScope(prepared.statement.scope, nowMs),
      compute,
      readsOnce: true as const,
    }
    let found: Cached<Page> = await cache.through(question, policy)
    // A stored first page is of use only as long as the pages behind it are (CA-7).
    if (found.stats.isCached && !(await isContinued(project, found.value))) {
      found = await cache.through(question, { ...policy, isRefreshForced: true })
    }
    const { value: page, stats } = found
    return { page, cursor: cursorOf(project, page, pageSize), stats, warnings, cached: found }
  }

  async function isContinued(project: Project, { next }: Page): Promise<boolean> {
    if (next === null) return true
    const result = await spool.use(next.resultId, project.id, clock.now())
    return result !== null && result.failure === null
  }

  function cursorOf(project: Project, { next }: Page, pageSize: number): string {
    return next === null ? '' : cursors.encode({ projectId: project.id, ...next, pageSize })
  }
}

function keyOf({ scope, statement, parameters }: PreparedStatement, pageSize: number): string {
  const sorted = Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(['sql', scope.projectId, scope.version, statement.canonical, sorted, pageSize])
}
