import type { SqlExecuteAnswer } from '@millrace/contract'
import { projectPath, type ProjectAddress } from './project-address.ts'
import { request } from './request.ts'

export type Row = Readonly<Record<string, unknown>>

/** A statement as the SQL API takes it. */
export interface Statement {
  readonly sql: string
  readonly size?: number
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Runs a statement and answers with its first page. `isLive` asks for what is there now, beside the cache. */
export function runSql(
  address: ProjectAddress,
  statement: Statement,
  signal?: AbortSignal,
  { isLive = false }: { readonly isLive?: boolean } = {},
): Promise<SqlExecuteAnswer> {
  return request(`/analytics/${projectPath(address)}/sql/execute`, {
    method: 'POST',
    body: { sqlQuery: statement, ...(isLive ? { cachePolicy: { no_cache: true } } : {}) },
    signal,
  })
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
