import type { AnsweredWrites } from '../cache/answered-writes.ts'
import type { ResultCache } from '../cache/cache-policy.ts'
import type { Clock } from '../platform/clock.ts'
import type { Project } from '../projects/project.ts'
import { askAllowedFunctions } from './allowed-functions.ts'
import { createCheckResolved } from './check-resolved.ts'
import { createChunkReader } from './chunk-reader.ts'
import type { CursorCodec } from './cursor.ts'
import { createExecutionGate } from './execution-gate.ts'
import type { ExecutionStore } from './execution.ts'
import { createExecutions, type Executions } from './executions.ts'
import { createExportResult, type ExportResult } from './export-result.ts'
import { listTables, type TableView } from './list-tables.ts'
import { createPrepareStatement } from './prepare-statement.ts'
import { createRunSql, type RunSql } from './run-sql.ts'
import { createStatementRunner } from './run-statement.ts'
import { createSavedQueries, type SavedQueries } from './saved-queries.ts'
import type { SavedQueryStore } from './saved-query.ts'
import type { Spool } from './spool.ts'
import type { RunProgress, SqlEngine } from './sql-engine.ts'
import { SQL_LIMITS, type SqlLimits } from './sql-limits.ts'

/** The SQL API. */
export interface Analytics {
  readonly runSql: RunSql
  readonly exportResult: ExportResult
  readonly executions: Executions
  readonly savedQueries: SavedQueries
  /** How far the run of that name is; null when none is under way. */
  progress(project: Project, runId: string): Promise<RunProgress | null>
  tables(project: Project, version: number | null): Promise<readonly TableView[]>
  /** Drops results, executions and unnamed queries whose time is over, and ends abandoned executions. */
  expire(): Promise<number>
  /** Resolves when every result that is under way is whole or has failed. */
  settled(): Promise<void>
  /** Cancels what runs and resolves when it has ended. */
  stop(): Promise<void>
}

export interface AnalyticsDependencies {
  readonly engine: SqlEngine
  readonly spool: Spool
  readonly executionStore: ExecutionStore
  readonly queries: SavedQueryStore
  readonly cursors: CursorCodec
  readonly cache: ResultCache
  /** Absent where every batch is stored before it is answered. */
  readonly answered?: AnsweredWrites
  readonly clock: Clock
  readonly instance: string
  readonly limits?: Partial<SqlLimits>
  sleep(ms: number): Promise<unknown>
}

/** Wires the parts of the SQL API. */
export function createAnalytics(dependencies: AnalyticsDependencies): Analytics {
  const { engine, spool, queries, clock } = dependencies
  const limits = { ...SQL_LIMITS, ...dependencies.limits }
  const gate = createExecutionGate(limits)
  const functions = askAllowedFunctions(engine)
  const prepare = createPrepareStatement(engine, functions, dependencies.answered)
  const checkResolved = createCheckResolved(engine, functions)
  const runner = createStatementRunner({ engine, checkResolved, spool, gate, limits, now: clock.now })
  const parts = { ...dependencies, chunks: createChunkReader(spool), limits, gate, prepare, runner }
  const executions = createExecutions({ ...parts, store: dependencies.executionStore })
  return {
    runSql: createRunSql(parts),
    exportResult: createExportResult(parts),
    executions,
    savedQueries: createSavedQueries({ store: queries, prepare, clock }),
    progress: (project, runId) => engine.progress(project.id, runId),
    tables: (project, version) => listTables(engine, project, version),
    expire: async () => {
      const results = await spool.expire(clock.now() - limits.idleMs)
      const unnamed = await queries.expire(clock.now() - limits.executionMs)
      await executions.recover(false)
      return results + unnamed + (await executions.expire())
    },
    settled: runner.settled,
    stop: async () => {
      await runner.stop()
      executions.stop()
    },
  }
}
