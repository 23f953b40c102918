import { SqlExecuteAnswer, SqlExecuteRequest } from '@millrace/contract'
import type { RunSql, SqlAnswer } from '../../analytics/run-sql.ts'
import { parseCachePolicy, type CacheDefaults } from '../../cache/parse-policy.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { interfaceStatsToWire, statsToWire } from './query-range.ts'

export interface SqlExecuteRouteDependencies {
  readonly runSql: RunSql
  readonly cacheDefaults?: CacheDefaults
}

/** `POST /analytics/{owner}/{project}/sql/execute` (interface 4.2). */
export function sqlExecuteRoute({ runSql, cacheDefaults }: SqlExecuteRouteDependencies): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/analytics/:owner/:project/sql/execute',
    permission: 'read',
    isPublicReadable: true,
    summary: 'Runs a SQL statement over the project, in pages with a stable cursor.',
    tag: 'sql',
    body: SqlExecuteRequest,
    answer: SqlExecuteAnswer,
    handle: async ({ body, project, signal, isInterfacePrefix }) => {
      const request = {
        sql: given(body.sqlQuery?.sql),
        pageSize: body.sqlQuery?.size ?? null,
        parameters: body.sqlQuery?.parameters ?? {},
        version: body.version ?? null,
        cursor: given(body.cursor),
      }
      const policy = parseCachePolicy(body.cachePolicy, cacheDefaults)
      return answerToWire(await runSql(project, request, policy, signal), isInterfacePrefix)
    },
  })
}

/** Clients generated from protobuf send an empty text for an absent one. */
function given(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}

function answerToWire(
  { page, cursor, stats, warnings }: SqlAnswer,
  isInterfacePrefix: boolean,
): SqlExecuteAnswer {
  const { columns, rows, generatedAt } = page
  return {
    runtimeCost: String(stats.computeCostMs),
    result: {
      columns: columns.map(({ name }) => name),
      columnTypes: Object.fromEntries(columns.map(({ name, wireType }) => [name, wireType])),
      rows: rows as SqlExecuteAnswer['result']['rows'],
      generatedAt: new Date(generatedAt).toISOString(),
      cursor,
    },
    computeStats: statsToWire(stats),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(isInterfacePrefix ? { cursor, compute_stats: interfaceStatsToWire(stats) } : {}),
  }
}
