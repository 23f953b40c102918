import type { SqlExecuteAnswer, SqlRunProgress } from '@millrace/contract'
import { projectPath, type ProjectAddress } from './project-address.ts'
import { request } from './request.ts'

export type Row = Readonly<Record<string, unknown>>

/** A statement as the SQL API takes it. */
export interface Statement {
  readonly sql: string
  readonly size?: number
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Runs a statement and answers with its first page. `isLive` asks for what is there now, beside the cache; `runId` names the run for `runProgress`. */
export function runSql(
  address: ProjectAddress,
  statement: Statement,
  signal?: AbortSignal,
  { isLive = false, runId }: { readonly isLive?: boolean; readonly runId?: string } = {},
): Promise<SqlExecuteAnswer> {
  return request(`/analytics/${projectPath(address)}/sql/execute`, {
    method: 'POST',
    body: {
      sqlQuery: statement,
      ...(isLive ? { cachePolicy: { no_cache: true } } : {}),
      ...(runId === undefined ? {} : { runId }),
    },
    signal,
  })
}

/** How far a run is. */
export function runProgress(
  address: ProjectAddress,
  runId: string,
  signal: AbortSignal,
): Promise<SqlRunProgress> {
  return request(`/analytics/${projectPath(address)}/sql/runs/${runId}`, { signal })
}

/** The page where a cursor points to. */
export function nextPage(
  address: ProjectAddress,
  cursor: string,
  signal?: AbortSignal,
): Promise<SqlExecuteAnswer> {
  return request(`/analytics/${projectPath(address)}/sql/execute`, {
    method: 'POST',
    body: { cursor },
    signal,
  })
}
