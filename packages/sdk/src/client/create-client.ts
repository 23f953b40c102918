import { projectPath, request, type Connection } from './request.ts'

/** Statistics of an answer: when it was computed and whether it came from the cache (CA-5). */
interface ComputeStats {
  readonly computedAt: string
  readonly isCached: boolean
  readonly isRefreshing: boolean
}

/** When a stored answer will do (interface 2.4). */
interface CachePolicy {
  readonly cacheTtlSecs?: number
  readonly cacheRefreshTtlSecs?: number
  readonly noCache?: boolean
  readonly forceRefresh?: boolean
}

interface FunctionCall {
  readonly name: string
  readonly arguments?: readonly unknown[]
}

/** Body of `query_range` (interface 2.1). */
export interface RangeQueryRequest {
  readonly queries: readonly {
    readonly query: string
    readonly id?: string
    readonly alias?: string
    readonly labelSelector?: Readonly<Record<string, string>>
    readonly aggregate?: {
      readonly op?: 'AVG' | 'SUM' | 'MIN' | 'MAX' | 'COUNT'
      readonly grouping?: readonly string[]
    } | null
    readonly functions?: readonly FunctionCall[]
    readonly disabled?: boolean
  }[]
  readonly formulas?: readonly {
    readonly expression: string
    readonly id?: string
    readonly alias?: string
    readonly functions?: readonly FunctionCall[]
    readonly disabled?: boolean
  }[]
  /** `start` and `end`: `now`, `now-30d`, or milliseconds since 1970. `step` in seconds. */
  readonly timeRange: {
    readonly start: string | number
    readonly end: string | number
    readonly step?: number
    readonly timezone?: string
  }
  readonly samplesLimit?: number
  readonly samplesOffset?: number
  readonly version?: number
  readonly cachePolicy?: CachePolicy
}

/** Answer of `query_range`. A result holds either `matrix` or `error` (ER-3). */
export interface RangeQueryAnswer {
  readonly results: readonly {
    readonly id: string
    readonly alias: string
    readonly error?: string
    readonly matrix?: {
      readonly totalSamples: number
      readonly samples: readonly {
        readonly metric: {
          readonly name: string
          readonly displayName: string
          readonly labels: Readonly<Record<string, string>>
        }
        /** `timestamp` is unix seconds as a decimal string. */
        readonly values: readonly { readonly timestamp: string; readonly value: number }[]
      }[]
    }
  }[]
  readonly warnings?: readonly string[]
  readonly computeStats: ComputeStats
}

/** A first SQL request (interface 2.3). `size` is the page size. */
export interface SqlQuery {
  readonly sql: string
  readonly size?: number
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly version?: number
  readonly cachePolicy?: CachePolicy
}

type Row = Readonly<Record<string, unknown>>

/** A page of a SQL result. An empty or absent cursor says it is the last one. */
export interface SqlAnswer {
  readonly result: {
    readonly columns: readonly string[]
    readonly columnTypes: Readonly<Record<string, string>>
    readonly rows: readonly Row[]
    readonly generatedAt?: string
    readonly cursor?: string
  }
  readonly computeStats?: ComputeStats
}

/** A batch that was never acknowledged; `data` is the JSON text of the array of messages (DD-3). */
export interface DeadLetter {
  readonly id: string
  readonly attributes: Readonly<Record<string, string>> & { readonly channel_name: string }
  readonly data: string
}

/** Answer of the dead-letter pull. */
export interface DeadLetterPage {
  readonly messages: readonly DeadLetter[]
}

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

/** A client of the service at `baseUrl`. It keeps no state and never retries: reads are cheap to repeat by the caller. */
export function createClient(connection: Connection): Client {
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
  const { sql, size, parameters, version, cachePolicy } = query
  return { sqlQuery: { sql, size, parameters }, version, cachePolicy }
}
