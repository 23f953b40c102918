import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { Project } from '../projects/project.ts'
import type { ChunkReader } from './chunk-reader.ts'
import type { CursorCodec } from './cursor.ts'
import type { ExecutionGate } from './execution-gate.ts'
import type { ExecutionStore, SqlExecution } from './execution.ts'
import type { Page } from './page.ts'
import type { PreparedStatement, PrepareStatement } from './prepare-statement.ts'
import { readPage } from './read-page.ts'
import type { StatementRunner } from './run-statement.ts'
import { resolveQuery, type QueryReference, type SavedQueryStore } from './saved-query.ts'
import { failureOf } from './spool-result.ts'
import type { Spool } from './spool.ts'
import { choosePageSize, type SqlLimits } from './sql-limits.ts'

export interface ExecutionRequest extends QueryReference {
  readonly version: number | null
  /** A repeated request with the same key joins the first one. */
  readonly idempotencyKey: string | null
}

/** An execution and the first page of its result, where it has one. */
export interface ExecutionView {
  readonly execution: SqlExecution
  readonly page: Page | null
  readonly cursor: string
}

/** An execution that was put into the queue or joined. */
export interface StartedExecution {
  readonly execution: SqlExecution
  readonly queueLength: number
  /** What of the request was probably not meant so. */
  readonly warnings: readonly string[]
}

/** Asynchronous executions (SQ-8). */
export interface Executions {
  /** Admits a statement and puts it into the queue of its project. */
  start(project: Project, request: ExecutionRequest): Promise<StartedExecution>
  view(project: Project, id: string, signal: AbortSignal): Promise<ExecutionView>
  find(project: Project, id: string): Promise<SqlExecution>
  /** Cancels it wherever it runs; one that has ended stays as it is. */
  cancel(project: Project, id: string): Promise<SqlExecution>
  /** Ends what a service that is gone has left behind. `isAll`: no other instance can be running any. */
  recover(isAll: boolean): Promise<number>
  expire(): Promise<number>
  /** Stops telling that this instance lives. What still runs should have ended before. */
  stop(): void
}

interface ExecutionDependencies {
  readonly store: ExecutionStore
  readonly prepare: PrepareStatement
  readonly runner: StatementRunner
  readonly gate: ExecutionGate
  readonly queries: SavedQueryStore
  readonly spool: Spool
  readonly chunks: ChunkReader
  readonly cursors: CursorCodec
  readonly clock: Clock
  readonly limits: SqlLimits
  /** Names this instance among those that share the store. */
  readonly instance: string
  sleep(ms: number): Promise<unknown>
}

const BEAT_EVERY_MS = 1000
const DEAD_AFTER_MS = 30_000
const RESTARTED = 'the service was restarted while the statement ran; start it again'

export function createExecutions(dependencies: ExecutionDependencies): Executions {
  const { store, prepare, runner, gate, queries, spool, chunks, cursors, clock, limits, instance, sleep } =
    dependencies
  const running = new Map<string, AbortController>()
  let beat: NodeJS.Timeout | undefined

  async function start(project: Project, request: ExecutionRequest): Promise<StartedExecution> {
    const query = await resolveQuery(queries, project, request)
    const { pageSize, warnings } = choosePageSize(query.pageSize, limits)
    const prepared = await prepare(project, { ...query, version: request.version })
    const wanted: SqlExecution = {
      id: randomId(),
      projectId: project.id,
      queryId: query.queryId ?? randomId(),
      version: prepared.scope.version,
      status: 'PENDING',
      pageSize,
      owner: instance,
      requestHash: hashOf(prepared, pageSize),
      idempotencyKey: request.idempotencyKey,
      resultId: randomId(),
      error: null,
      scheduledAt: clock.now(),
      startedAt: null,
      finishedAt: null,
    }
    const execution = await store.add(wanted)
    if (execution.requestHash !== wanted.requestHash) {
      throw new ServiceError('already_exists', 'this Idempotency-Key came with another statement before')
    }
    if (execution.id === wanted.id) {
      if (query.queryId === null) {
        const { sql, parameters } = query
        const savedAt = wanted.scheduledAt
        const { queryId: id, projectId } = wanted
        await queries.put({ id, projectId, name: null, sql, parameters, pageSize, savedAt })
      }
      void runToItsEnd(execution, prepared)
    }
    const queueLength = gate.queueLength(project.id)
    return { execution, queueLength, warnings: [...warnings, ...prepared.warnings] }
  }

  /** Never rejects: what goes wrong is told by the execution. */
  async function runToItsEnd({ id, resultId, pageSize }: SqlExecution, prepared: PreparedStatement) {
    const controller = new AbortController()
    running.set(id, controller)
    beat ??= setInterval(() => void tellAlive(), BEAT_EVERY_MS).unref()
    try {
      const result = await runner.run(prepared, {
        page: { rows: pageSize, bytes: limits.pageBytesMax },
        signal: controller.signal,
        resultId,
        runId: id,
        onStarted: () => store.markRunning(id, clock.now()),
      })
      await result.done
      await store.markFinished(id, clock.now())
    } catch (error) {
      await store.markKilled(id, clock.now(), failureOf(error).message).catch(() => false)
    } finally {
      running.delete(id)
      if (running.size === 0) stop()
    }
  }

  async function tellAlive(): Promise<void> {
    const cancelled = await store.beat(instance, clock.now()).catch(() => [])
    for (const id of cancelled) running.get(id)?.abort()
  }

  async function find(project: Project, id: string): Promise<SqlExecution> {
    const execution = await store.find(project.id, id)
    if (!execution) throw new ServiceError('not_found', `no execution ${id}`)
    return execution
  }

  async function view(project: Project, id: string, signal: AbortSignal): Promise<ExecutionView> {
    const execution = await find(project, id)
    if (execution.status !== 'FINISHED') return { execution, page: null, cursor: '' }
    const at = { resultId: execution.resultId, projectId: project.id, firstRow: 0 }
    const { pageSize } = execution
    const limit = { rows: pageSize, bytes: limits.pageBytesMax }
    const page = await readPage({ spool, chunks, now: clock.now, sleep }, at, limit, signal)
    const cursor = page.next ? cursors.encode({ projectId: project.id, ...page.next, pageSize }) : ''
    return { execution, page, cursor }
  }

  async function cancel(project: Project, id: string): Promise<SqlExecution> {
    const execution = await find(project, id)
    const controller = running.get(id)
    if (controller) {
      await store.markKilled(id, clock.now(), 'the query was cancelled')
      controller.abort()
    } else if (execution.finishedAt === null) await store.wantCancel(id)
    return find(project, id)
  }

  function stop(): void {
    clearInterval(beat)
    beat = undefined
  }

  return {
    start,
    view,
    find,
    cancel,
    recover: (isAll) =>
      store.killAbandoned(clock.now() - (isAll ? -1 : DEAD_AFTER_MS), clock.now(), RESTARTED),
    expire: () => store.expire(clock.now() - limits.executionMs),
    stop,
  }
}

function hashOf({ scope, statement, parameters }: PreparedStatement, pageSize: number): string {
  const meaning = JSON.stringify([scope.version, statement.canonical, parameters, pageSize])
  return createHash('sha256').update(meaning).digest('base64url')
}
