import type { Cached, CachePolicy, CacheStats, ResultCache } from '../cache/cache-policy.ts'
import type { Clock } from '../platform/clock.ts'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { Project } from '../projects/project.ts'
import { admitStatement, type AdmittedStatement } from './admit-statement.ts'
import { createAllowedFunctions, type AllowedFunctions } from './allowed-functions.ts'
import type { CursorCodec } from './cursor.ts'
import { readPage, type Page } from './page.ts'
import type { ExecutionLimits, SqlEngine, SqlParameters, SqlScope } from './sql-engine.ts'
import { spoolResult, type SpoolLimits } from './spool-result.ts'
import type { Spool } from './spool.ts'

/** A first request, or the cursor of a later one. */
export interface SqlRequest {
  readonly sql: string | null
  /** Rows a page; null is the default. */
  readonly pageSize: number | null
  readonly parameters: SqlParameters
  /** Processor version; null is the active one. */
  readonly version: number | null
  readonly cursor: string | null
}

/** A page, and the cursor of the next; empty behind the last. */
export interface SqlAnswer {
  readonly page: Page
  readonly cursor: string
  readonly stats: CacheStats
  readonly warnings: readonly string[]
}

/** Bounds of the SQL API. */
export interface SqlLimits extends ExecutionLimits, SpoolLimits {
  readonly pageRowsDefault: number
  readonly pageRowsMax: number
  readonly pageBytesMax: number
  /** A kept result goes this long after its last use, and not earlier (CU-2). */
  readonly idleMs: number
}

export const SQL_LIMITS: SqlLimits = {
  timeoutMs: 60_000,
  memoryBytesMax: 2 * 2 ** 30,
  rowsReadMax: 1_000_000_000,
  resultBytesMax: 2 ** 30,
  projectBytesMax: 2 ** 30,
  totalBytesMax: 4 * 2 ** 30,
  pageRowsDefault: 1000,
  pageRowsMax: 1_000_000,
  pageBytesMax: 16 * 2 ** 20,
  idleMs: 3_600_000,
}

interface SqlDependencies {
  readonly engine: SqlEngine
  readonly spool: Spool
  readonly cursors: CursorCodec
  readonly cache: ResultCache
  readonly clock: Clock
  readonly limits?: Partial<SqlLimits>
}

/** Answers one request of the SQL API. */
export type RunSql = (
  project: Project,
  request: SqlRequest,
  policy: CachePolicy,
  signal: AbortSignal,
) => Promise<SqlAnswer>

const EXPIRE_EVERY_MS = 60_000

/** The read flow of the SQL API: admit, then through the cache execute and spool; later pages come from the spool. */
export function createRunSql({ engine, spool, cursors, cache, clock, ...given }: SqlDependencies): RunSql {
  const limits: SqlLimits = { ...SQL_LIMITS, ...given.limits }
  let allowed: Promise<AllowedFunctions> | null = null
  let expiredAt = Number.NEGATIVE_INFINITY

  return async (project, request, policy, signal) => {
    if (request.cursor !== null && request.sql !== null) {
      throw invalidArgument('cursor must be the only field: sqlQuery.sql must not stand beside it')
    }
    if (request.cursor !== null) return continueResult(project, request.cursor)
    if (request.sql === null) throw invalidArgument('sqlQuery.sql or cursor is required')
    return startResult(project, request.sql, request, policy, signal)
  }

  async function continueResult(project: Project, text: string): Promise<SqlAnswer> {
    const startedAt = clock.monotonic()
    const { resultId, firstRow, pageSize } = cursors.decode(text, project.id)
    const limit = { rows: pageSize, bytes: limits.pageBytesMax }
    const page = await readPage(spool, { resultId, projectId: project.id, firstRow }, limit, clock.now())
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    const stats = { computedAt: page.generatedAt, isCached: true, isRefreshing: false, computeCostMs }
    return { page, cursor: cursorOf(project, page, pageSize), stats, warnings: [] }
  }

  async function startResult(
    project: Project,
    sql: string,
    request: SqlRequest,
    policy: CachePolicy,
    signal: AbortSignal,
  ): Promise<SqlAnswer> {
    const { pageSize, warnings } = choosePageSize(request.pageSize)
    const scope = scopeOf(project, request.version)
    const statement = await admitStatement(engine, await functions(), sql, request.parameters)
    const compute = (): Promise<Page> => execute(statement, scope, request.parameters, pageSize, signal)
    const key = keyOf(scope, statement, request.parameters, pageSize)
    let found: Cached<Page> = await cache.through(key, policy, compute)
    // A stored first page is of use only as long as the pages behind it are (CA-7).
    if (found.stats.isCached && !(await isContinued(project, found.value))) {
      found = await cache.through(key, { ...policy, isRefreshForced: true }, compute)
    }
    return {
      page: found.value,
      cursor: cursorOf(project, found.value, pageSize),
      stats: found.stats,
      warnings,
    }
  }

  async function isContinued(project: Project, { next }: Page): Promise<boolean> {
    return next === null || (await spool.use(next.resultId, project.id, clock.now())) !== null
  }

  async function execute(
    statement: AdmittedStatement,
    scope: SqlScope,
    parameters: SqlParameters,
    pageSize: number,
    signal: AbortSignal,
  ): Promise<Page> {
    await expire()
    const run = { scope, parameters, limits, isExplain: statement.isExplain, signal }
    const stream = await (statement.isWrapped
      ? engine.executeWrapped(statement.sql, run)
      : engine.execute(statement.sql, run))
    const { projectId } = scope
    const target = { spool, resultId: randomId(), projectId, generatedAt: clock.now(), limits }
    return spoolResult(
      stream,
      { rows: pageSize, bytes: limits.pageBytesMax },
      target,
      statement.isExplain ? hideInsides : same,
    )
  }

  async function expire(): Promise<void> {
    if (clock.monotonic() - expiredAt < EXPIRE_EVERY_MS) return
    expiredAt = clock.monotonic()
    await spool.expire(clock.now() - limits.idleMs)
  }

  /** The engine's functions are asked for once; a failure is not kept. */
  function functions(): Promise<AllowedFunctions> {
    allowed ??= engine.functions().then(createAllowedFunctions)
    allowed.catch(() => {
      allowed = null
    })
    return allowed
  }

  function choosePageSize(asked: number | null): { pageSize: number; warnings: readonly string[] } {
    if (asked === null || asked === 0) return { pageSize: limits.pageRowsDefault, warnings: [] }
    if (asked < 0) throw invalidArgument('sqlQuery.size must be 1 or more')
    if (asked <= limits.pageRowsMax) return { pageSize: asked, warnings: [] }
    return {
      pageSize: limits.pageRowsMax,
      warnings: [`sqlQuery.size is at most ${limits.pageRowsMax}; follow the cursor`],
    }
  }

  function cursorOf(project: Project, { next }: Page, pageSize: number): string {
    return next === null ? '' : cursors.encode({ projectId: project.id, ...next, pageSize })
  }
}

function scopeOf(project: Project, asked: number | null): SqlScope {
  const version = asked === null || asked === 0 ? project.activeVersion : asked
  if (version === null) {
    throw new ServiceError(
      'failed_precondition',
      `project ${project.owner}/${project.name} has no processor version yet; send it data first`,
    )
  }
  return { projectId: project.id, version, isActive: version === project.activeVersion }
}

function keyOf(
  scope: SqlScope,
  statement: AdmittedStatement,
  parameters: SqlParameters,
  pageSize: number,
): string {
  const sorted = Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(['sql', scope.projectId, scope.version, statement.canonical, sorted, pageSize])
}

/** An explanation names the engine's databases, which are no caller's business (ER-4). */
function hideInsides(row: string): string {
  return row
    .replaceAll(/millrace_p\d+_v\d+(_facts)?\./g, '')
    .replaceAll(/millrace_p\d+_v\d+(_facts)?/g, 'project')
}

function same(row: string): string {
  return row
}
