import { checkConnection } from './check-connection.ts'
import { projectPath, request, type Connection } from './request.ts'
import type {
  CachePolicyRequest,
  DeadLetterAnswer,
  QueryRangeAnswer,
  QueryRangeRequest,
  SqlExecuteAnswer,
  SqlQuery as WireSqlQuery,
} from './wire.ts'

/** Body of `query_range` (interface 2.1). */
export type RangeQueryRequest = QueryRangeRequest

/** Answer of `query_range`. A result holds either `matrix` or `error` (ER-3). */
export type RangeQueryAnswer = QueryRangeAnswer

/** A first SQL request (interface 2.3). `size` is the page size. */
export interface SqlQuery extends WireSqlQuery {
  readonly version?: number
  readonly cachePolicy?: CachePolicyRequest
}

/** A page of a SQL result. An empty cursor says it is the last one. */
export type SqlAnswer = SqlExecuteAnswer

type Row = SqlAnswer['result']['rows'][number]

/** A batch that was never acknowledged; `data` is the JSON text of the array of messages (DD-3). */
export type DeadLetter = DeadLetterAnswer['messages'][number]

/** Answer of the dead-letter pull. */
export type DeadLetterPage = DeadLetterAnswer

/** Typed calls of the query and dead-letter APIs. Every method throws `MillraceError` when the service refuses. */
export interface Client {
  queryRange(project: string, body: RangeQueryRequest, signal?: AbortSignal): Promise<RangeQueryAnswer>
  /** One page: the first with a query, each further one with the cursor of the page before. */
  executeSql(
    project: string,
    query: SqlQuery | { readonly cursor: string },
    signal?: AbortSignal,
  ): Promise<SqlAnswer>
  /** All rows of a result, page by page as they are consumed. */
  sqlRows(project: string, query: SqlQuery, signal?: AbortSignal): AsyncIterableIterator<Row>
  /** At most `limit` (1 to 10) dead-lettered batches. Pulling removes nothing (DD-2). */
  pullDeadLetters(
    project: string,
    options?: { readonly limit?: number; readonly after?: string; readonly channel?: string },
    signal?: AbortSignal,
  ): Promise<DeadLetterPage>
}

/**
 * A client of the service at `baseUrl`. It keeps no state and never retries: reads are cheap to repeat by the caller.
 * Throws a `TypeError` for an address or key that nothing can be sent with.
 */
export function createClient(connection: Connection): Client {
  checkConnection(connection)
  const executeSql: Client['executeSql'] = async (project, query, signal) => {
    const path = `/analytics/${projectPath(project)}/sql/execute`
    const json = 'cursor' in query ? { cursor: query.cursor } : firstPage(query)
    return (await request(connection, { method: 'POST', path, json, ...withSignal(signal) })) as SqlAnswer
  }

  return {
    executeSql,
    async queryRange(project, body, signal) {
      const path = `/metrics/${projectPath(project)}/query_range`
      const json = { formulas: [], ...body }
      const answer = await request(connection, { method: 'POST', path, json, ...withSignal(signal) })
      return answer as RangeQueryAnswer
    },
    async *sqlRows(project, query, signal) {
      let page = await executeSql(project, query, signal)
      yield* page.result.rows
      while (page.result.cursor) {
        page = await executeSql(project, { cursor: page.result.cursor }, signal)
        yield* page.result.rows
      }
    },
    async pullDeadLetters(project, options = {}, signal) {
      const path = `/webhook/deadletter/${projectPath(project)}`
      const answer = await request(connection, {
        method: 'GET',
        path,
        query: { ...options },
        ...withSignal(signal),
      })
      return answer as DeadLetterPage
    },
  }
}

function withSignal(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { signal }
}

function firstPage(query: SqlQuery): unknown {
  const { version, cachePolicy, ...sqlQuery } = query
  return { sqlQuery, version, cachePolicy }
}
