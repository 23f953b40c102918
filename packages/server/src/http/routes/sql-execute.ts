import { Readable } from 'node:stream'
import { SqlExecuteAnswer, SqlExecuteQuery, SqlExecuteRequest } from '@millrace/contract'
import type { Analytics } from '../../analytics/analytics.ts'
import { EXPORT_FORMATS } from '../../analytics/export-result.ts'
import type { SqlAnswer } from '../../analytics/run-sql.ts'
import { parseCachePolicy, type CacheDefaults } from '../../cache/parse-policy.ts'
import { invalidArgument } from '../../platform/errors.ts'
import type { AnswerParts } from '../answer-parts.ts'
import { cachedAnswer } from '../cached-answer.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { interfaceStatsToWire, statsToWire } from './query-range.ts'
import { given, queryReference } from './sql-query.ts'
import { withResult } from './sql-result.ts'

export interface SqlExecuteRouteDependencies {
  readonly analytics: Pick<Analytics, 'runSql' | 'exportResult'>
  readonly cacheDefaults?: CacheDefaults
}

/** `POST /analytics/{owner}/{project}/sql/execute` (interface 4.2). */
export function sqlExecuteRoute({ analytics, cacheDefaults }: SqlExecuteRouteDependencies): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/analytics/:owner/:project/sql/execute',
    permission: 'read',
    isPublicReadable: true,
    summary: 'Runs a SQL statement over the project, in pages with a stable cursor.',
    tag: 'sql',
    query: SqlExecuteQuery,
    body: SqlExecuteRequest,
    isOftenRepeated: true,
    example: { sqlQuery: { sql: 'select * from Transfer order by timestamp desc', size: 5 } },
    answer: SqlExecuteAnswer,
    handle: async (context) => {
      const { body, query, project, signal, isInterfacePrefix, setHeader } = context
      const request = { ...queryReference(body.sqlQuery), version: body.version ?? null }
      const cursor = given(body.cursor)
      const format = query.format ?? body.format
      if (format !== undefined) {
        if (cursor !== null)
          throw invalidArgument('format is for whole results: cursor must not stand beside it')
        const bytes = await analytics.exportResult(project, request, format, signal)
        setHeader('content-type', EXPORT_FORMATS[format])
        return Readable.from(bytes, { objectMode: false })
      }
      const policy = parseCachePolicy(body.cachePolicy, cacheDefaults)
      const runId = given(body.runId)
      const answer = await analytics.runSql(project, { ...request, cursor, runId }, policy, signal)
      setHeader('content-type', 'application/json; charset=utf-8')
      const toWire = () => answerToJson(answer, isInterfacePrefix)
      return answer.cached ? cachedAnswer(context, answer.cached, policy, toWire) : toWire().body(setHeader)
    },
  })
}

function answerToJson({ page, cursor, stats, warnings }: SqlAnswer, isInterfacePrefix: boolean): AnswerParts {
  const rest = {
    runtimeCost: String(stats.computeCostMs),
    computeStats: {
      ...statsToWire(stats),
      ...(page.rowsRead === undefined ? {} : { rowsRead: page.rowsRead }),
    },
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(isInterfacePrefix ? { cursor, compute_stats: interfaceStatsToWire(stats) } : {}),
  }
  return withResult(rest, page, cursor)
}
