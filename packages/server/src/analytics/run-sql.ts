import type { Cached, CachePolicy, CacheStats, ResultCache } from '../cache/cache-policy.ts'
import type { Clock } from '../platform/clock.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import type { ChunkReader } from './chunk-reader.ts'
import type { CursorCodec } from './cursor.ts'
import type { GrowingPage } from './growing-page.ts'
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

/** A long first page that is given while its rows come. */
export interface GrowingAnswer {
  readonly page: GrowingPage
  /** Resolves with the answer when its last row is there; rejects where that cannot be told. */
  whole(): Promise<SqlAnswer>
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

/**
 * Answers one request of the SQL API. `onGrowing` is told of a long first page that is computed when some of its rows are there; what it is told may be
 * answered instead, and is nothing more when the answer is there already.
 */
export type RunSql = (
  project: Project,
  request: SqlRequest,
  policy: CachePolicy,
  signal: AbortSignal,
  onGrowing?: (answer: GrowingAnswer) => void,
) => Promise<SqlAnswer>

/** The read flow of the SQL API: admit, then through the cache execute and spool; later pages come from the spool. */
export function createRunSql(dependencies: SqlDependencies): RunSql {
  const { prepare, runner, queries, spool, chunks, cursors, cache, clock, limits, sleep } = dependencies

  return async (project, request, policy, signal, onGrowing) => {
    const isReferring = request.sql !== null || request.name !== null || request.queryId !== null
    if (request.cursor !== null && isReferring) {
      throw invalidArgument('cursor must be the only field: sqlQuery.sql must not stand beside it')
    }
    if (request.cursor !== null) return continueResult(project, request.cursor, signal)
    return startResult(project, request, policy, signal, onGrowing)
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
    onGrowing?: (answer: GrowingAnswer) => void,
  ): Promise<SqlAnswer> {
    const query = await resolveQuery(queries, project, request)
    const { pageSize, warnings: ofSize } = choosePageSize(query.pageSize, limits)
    const prepared = await prepare(project, { ...query, version: request.version })
    const warnings = [...ofSize, ...prepared.warnings]
    const startedAt = clock.monotonic()

    /** The rest of a page that has begun. Those who wait for the whole of it hear of a failure; to whom it is given as it comes, it ends with a cursor. */
    async function wholeOf(growing: GrowingPage): Promise<SqlAnswer> {
      const page = await growing.whole
      const computeCostMs = Math.round(clock.monotonic() - startedAt)
      const uncached = { computedAt: page.generatedAt, isCached: false, isRefreshing: false, computeCostMs }
      const stats = await through.then((found) => found.stats).catch(() => uncached)
      return { page, cursor: cursorOf(project, page, pageSize), stats, warnings }
    }

    const compute = async (): Promise<Page> => {
      const result = await runner.run(prepared, {
        page: { rows: pageSize, bytes: limits.pageBytesMax },
        signal,
        runId: request.runId ?? undefined,
        ...(onGrowing ? { onGrowing: (page) => onGrowing({ page, whole: () => wholeOf(page) }) } : {}),
        isForReaderAlone: policy.isBypassed,
      })
      return result.page
    }
    const question = {
      key: keyOf(prepared, pageSize),
      owner: prepared.scope,
      scope: (nowMs: number) => answerScope(prepared.statement.scope, nowMs),
      compute,
      readsOnce: true as const,
    }
    let through: Promise<Cached<Page>> = cache.through(question, policy)
    let found = await through
    // A stored first page is of use only as long as the pages behind it are (CA-7).
    if (found.stats.isCached && !(await isContinued(project, found.value))) {
      through = cache.through(question, { ...policy, isRefreshForced: true })
      found = await through
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
