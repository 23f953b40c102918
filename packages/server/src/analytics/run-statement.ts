import { ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { CheckResolved } from './check-resolved.ts'
import type { ExecutionGate } from './execution-gate.ts'
import type { GrowingPage } from './growing-page.ts'
import type { PageLimit } from './page.ts'
import { placeError } from './place-error.ts'
import type { PreparedStatement } from './prepare-statement.ts'
import type { Spool } from './spool.ts'
import { spoolResult, type RunningResult } from './spool-result.ts'
import type { SpoolLimits } from './spool-writer.ts'
import type { BinaryFormat, Execution, ExecutionLimits, RowStream, SqlEngine } from './sql-engine.ts'

/** How a statement is run. */
export interface RunOptions {
  readonly page: PageLimit
  readonly signal: AbortSignal
  /** Keeps the result under this id though it fits into one page. Absent: only a longer one is kept, under an id of its own. */
  readonly resultId?: string
  /** The name under which the caller may ask how far it is. */
  readonly runId?: string | undefined
  /** Called when the statement's turn has come. */
  readonly onStarted?: () => Promise<void>
  /** Told of a long first page when some of it is there. */
  readonly onGrowing?: (page: GrowingPage) => void
  /** Is a growing page given to nobody else, and kept nowhere? */
  readonly isForReaderAlone?: boolean
}

/** How one execution differs from others of its statement. */
type Manner = Pick<Execution, 'runId' | 'isShort'>

/** Whoever asks for no more than so many rows waits for the time until they come; of longer results the time that each row takes counts. */
const SHORT_ROWS_MAX = 10_000

export interface StatementRunner {
  /** Runs a statement when its turn comes. What it returns may be read while the rest is still on its way. */
  run(prepared: PreparedStatement, options: RunOptions): Promise<RunningResult>
  /** The rows of a statement as they come, kept nowhere; whoever reads them must read or end the stream. */
  rows(prepared: PreparedStatement, signal: AbortSignal): Promise<RowStream>
  /** Like `rows`, as bytes of one of the engine's formats. */
  bytes(
    prepared: PreparedStatement,
    format: BinaryFormat,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>
  /** Resolves when every result that is under way has ended. */
  settled(): Promise<void>
  /** Cancels what runs and resolves when all of it has ended. */
  stop(): Promise<void>
}

interface RunnerDependencies {
  readonly engine: SqlEngine
  readonly spool: Spool
  readonly checkResolved: CheckResolved
  readonly gate: ExecutionGate
  readonly limits: ExecutionLimits & SpoolLimits
  now(): number
}

/** Runs admitted statements, each in its turn (SQ-7). */
export function createStatementRunner(dependencies: RunnerDependencies): StatementRunner {
  const { engine, checkResolved, spool, gate, limits } = dependencies
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()

  async function open<Stream>(
    prepared: PreparedStatement,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<Stream>,
  ): Promise<{ stream: Stream; leave: () => void }> {
    const stop = AbortSignal.any([signal, stopping.signal])
    const leave = await gate.enter(prepared.scope.projectId, stop)
    try {
      return { stream: await start(stop), leave }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Starts a statement, and lets nobody read of it before its second check. */
  async function begin<Stream>(
    prepared: PreparedStatement,
    signal: AbortSignal,
    start: (run: Execution) => Promise<Stream>,
    manner: Manner = {},
  ): Promise<Stream> {
    const { statement, scope, parameters, source } = prepared
    const refusal = new AbortController()
    const run: Execution = {
      scope,
      parameters,
      limits,
      isLenient: statement.isLenient,
      signal: AbortSignal.any([signal, refusal.signal]),
    }
    const check = checkResolved(prepared, run)
    check.catch(() => undefined)
    const stream = start({ ...run, ...manner })
    stream.catch(() => undefined)
    try {
      await check
      return await stream
    } catch (error) {
      refusal.abort()
      throw placeError(error, source)
    }
  }

  function execute(prepared: PreparedStatement, signal: AbortSignal, manner?: Manner): Promise<RowStream> {
    const { sql, isWrapped, isDescribe } = prepared.statement
    const start = (run: Execution): Promise<RowStream> => {
      if (isDescribe) return engine.describeWrapped(sql, run)
      return isWrapped ? engine.executeWrapped(sql, run) : engine.execute(sql, run)
    }
    return begin(prepared, signal, start, manner)
  }

  function track(work: Promise<unknown>, leave: () => void): void {
    const tracked = work
      .catch(() => undefined)
      .finally(() => {
        running.delete(tracked)
        leave()
      })
    running.add(tracked)
  }

  async function settled(): Promise<void> {
    while (running.size > 0) await Promise.all(running)
  }

  return {
    async run(prepared, { page, signal, resultId, runId, onStarted, onGrowing, isForReaderAlone = false }) {
      const { stream, leave } = await open(prepared, signal, async (stop) => {
        await onStarted?.()
        const isShort = resultId === undefined && page.rows <= SHORT_ROWS_MAX
        return execute(prepared, stop, { isShort, ...(runId === undefined ? {} : { runId }) })
      })
      const result = spoolResult(stream, page, {
        spool,
        resultId: resultId ?? randomId(),
        projectId: prepared.scope.projectId,
        now: dependencies.now,
        limits,
        isAlwaysKept: resultId !== undefined,
        ...(prepared.statement.isCleaned ? { clean: hideInsides } : {}),
        ...(onGrowing ? { onGrowing, isForReaderAlone } : {}),
      })
      track(result.done, leave)
      return result
    },

    async rows(prepared, signal) {
      const { stream, leave } = await open(prepared, signal, (stop) => execute(prepared, stop))
      // A stream that nobody ever reads does not end by itself.
      signal.addEventListener('abort', leave, { once: true })
      return { ...stream, blocks: leaveAtEnd(stream.blocks, leave) }
    },

    async bytes(prepared, format, signal) {
      const { stream, leave } = await open(prepared, signal, (stop) =>
        begin(prepared, stop, (run) => engine.export(prepared.statement.sql, run, format)),
      )
      signal.addEventListener('abort', leave, { once: true })
      return leaveAtEnd(stream, leave)
    },

    settled,

    async stop() {
      stopping.abort(
        new ServiceError('unavailable', 'the service stops; run the statement again', {
          retryAfterSeconds: 5,
        }),
      )
      await settled()
    },
  }
}

async function* leaveAtEnd<Part>(source: AsyncIterable<Part>, leave: () => void): AsyncGenerator<Part> {
  try {
    yield* source
  } finally {
    leave()
  }
}

/** An explanation names the engine's databases, which are no caller's business (ER-4). */
export function hideInsides(row: string): string {
  return row
    .replaceAll(/millrace_p\d+_v\d+(_facts)?\./g, '')
    .replaceAll(/millrace_p\d+_v\d+(_facts)?/g, 'project')
}
