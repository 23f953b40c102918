import { Readable } from 'node:stream'
import { SqlExecuteAnswer, SqlExecuteQuery, SqlExecuteRequest } from '@millrace/contract'
import type { Analytics } from '../../analytics/analytics.ts'
import { EXPORT_FORMATS } from '../../analytics/export-result.ts'
import type { GrowingAnswer, SqlAnswer } from '../../analytics/run-sql.ts'
import { parseCachePolicy, type CacheDefaults } from '../../cache/parse-policy.ts'
import { invalidArgument } from '../../platform/errors.ts'
import { cachedAnswer } from '../cached-answer.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { interfaceStatsToWire, statsToWire } from './query-range.ts'
import { given, queryReference } from './sql-query.ts'
import { growingResult, withResult } from './sql-result.ts'

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
      const { body, query, project, signal, isInterfacePrefix, headers, setHeader } = context
      const request = { ...queryReference(body.sqlQuery), version: body.version ?? null }
      const cursor = given(body.cursor)
      const format = query.format ?? body.format
      if (format !== undefined) {
        if (cursor !== null)
          throw invalidArgument('format is for whole results: cursor must not stand beside it')
        const { bytes, warnings } = await analytics.exportResult(project, request, format, signal)
        setHeader('content-type', EXPORT_FORMATS[format])
        if (warnings.length > 0) setHeader('x-warning', warnings.join('; '))
        return Readable.from(bytes, { objectMode: false })
      }
      const hints = hintsOf(body)
      const policy = parseCachePolicy(body.cachePolicy, cacheDefaults)
      const runId = given(body.runId)
      const growing = Promise.withResolvers<GrowingAnswer>()
      const whole = analytics.runSql(
        project,
        { ...request, cursor, runId },
        policy,
        signal,
        // Who has an answer already wants to know whether it is still the same, which only a whole one tells.
        headers['if-none-match'] === undefined ? growing.resolve : undefined,
      )
      const answer = await Promise.race([whole, growing.promise])
      setHeader('content-type', 'application/json; charset=utf-8')
      if ('whole' in answer) {
        setHeader('cache-control', 'no-store')
        return Readable.from(growingToJson(answer, isInterfacePrefix, hints), { objectMode: false })
      }
      // What is kept is answered to others too, to whom the warnings of this request say nothing.
      const isOwn = hints.length + answer.warnings.length > 0
      const cached = answer.cached && isOwn ? { ...answer.cached, etag: null } : answer.cached
      const toWire = () =>
        withResult(restToWire(answer, isInterfacePrefix, hints), answer.page, answer.cursor)
      return cached ? cachedAnswer(context, cached, policy, toWire) : toWire().body(setHeader)
    },
  })
}

/** The JSON of a page as it comes. */
function growingToJson(
  { page, whole }: GrowingAnswer,
  isInterfacePrefix: boolean,
  hints: readonly string[],
): AsyncIterable<Uint8Array> {
  return growingResult(page.columns, page.rows(), async () => {
    const answer = await whole()
    return { ...answer, rest: restToWire(answer, isInterfacePrefix, hints) }
  })
}

/** What an answer holds beside its `result`. */
function restToWire(
  { page, cursor, stats, warnings }: SqlAnswer,
  isInterfacePrefix: boolean,
  hints: readonly string[],
): object {
  const told = [...hints, ...warnings]
  return {
    runtimeCost: String(stats.computeCostMs),
    computeStats: {
      ...statsToWire(stats),
      ...(page.rowsRead === undefined ? {} : { rowsRead: page.rowsRead }),
    },
    ...(told.length === 0 ? {} : { warnings: told }),
    ...(isInterfacePrefix ? { cursor, compute_stats: interfaceStatsToWire(stats) } : {}),
  }
}
