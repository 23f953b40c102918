import type { SqlLimits } from '../analytics/sql-limits.ts'
import type { Config } from '../config.ts'

/** Some sessions of the embedded engine stay free of SQL: ingest and metrics need them, and so does the check of a statement. */
export function sqlLimits(
  config: Config,
): Omit<SqlLimits, 'pageRowsDefault' | 'pageRowsMax' | 'pageBytesMax' | 'idleMs' | 'executionMs'> {
  const runningMax =
    config.clickhouseUrl === '' ? Math.max(1, config.engineSessions - 3) : config.sqlConcurrency * 8
  return {
    timeoutMs: config.sqlTimeoutSeconds * 1000,
    memoryBytesMax: config.sqlMemoryBytes,
    rowsReadMax: config.sqlRowsRead,
    resultBytesMax: config.sqlResultBytes,
    projectBytesMax: config.sqlProjectBytes,
    totalBytesMax: config.sqlTotalBytes,
    runningMax,
    projectRunningMax: Math.min(config.sqlConcurrency, Math.max(1, runningMax - 1)),
    projectQueueMax: config.sqlQueue,
  }
}
