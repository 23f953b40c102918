import { invalidArgument } from '../platform/errors.ts'
import type { GateLimits } from './execution-gate.ts'
import type { SpoolLimits } from './spool-writer.ts'
import type { ExecutionLimits } from './sql-engine.ts'

/** Bounds of the SQL API. */
export interface SqlLimits extends ExecutionLimits, SpoolLimits, GateLimits {
  readonly pageRowsDefault: number
  readonly pageRowsMax: number
  readonly pageBytesMax: number
  /** A kept result goes this long after its last use, and not earlier (CU-2). */
  readonly idleMs: number
  /** An asynchronous execution is forgotten this long after it was asked for. */
  readonly executionMs: number
}

export const SQL_LIMITS: SqlLimits = {
  timeoutMs: 60_000,
  memoryBytesMax: 2 * 2 ** 30,
  rowsReadMax: 1_000_000_000,
  resultBytesMax: 2 ** 30,
  projectBytesMax: 2 ** 30,
  totalBytesMax: 4 * 2 ** 30,
  runningMax: 5,
  projectRunningMax: 4,
  projectQueueMax: 100,
  pageRowsDefault: 1000,
  pageRowsMax: 1_000_000,
  pageBytesMax: 16 * 2 ** 20,
  idleMs: 3_600_000,
  executionMs: 7 * 86_400_000,
}

/** The rows of a page for what was asked; null and 0 are the default (SQ-5). */
export function choosePageSize(
  asked: number | null,
  limits: SqlLimits,
): { readonly pageSize: number; readonly warnings: readonly string[] } {
  if (asked === null || asked === 0) return { pageSize: limits.pageRowsDefault, warnings: [] }
  if (asked < 0) throw invalidArgument('sqlQuery.size must be 1 or more')
  if (asked <= limits.pageRowsMax) return { pageSize: asked, warnings: [] }
  return {
    pageSize: limits.pageRowsMax,
    warnings: [`sqlQuery.size is at most ${limits.pageRowsMax}; follow the cursor`],
  }
}
