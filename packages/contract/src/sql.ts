import { Type } from 'typebox'
import { CachePolicyRequest } from './cache.ts'
import { ComputeStats, InterfaceComputeStats } from './metrics.ts'

/** A statement, or the saved query that holds it. */
export const SqlQuery = Type.Object({
  sql: Type.Optional(Type.String({ description: 'One SELECT-like statement in the dialect of ClickHouse.' })),
  size: Type.Optional(
    Type.Integer({
      description: 'Rows a page. Absent: 1000. More than 1 000 000 is served as that, with a cursor.',
    }),
  ),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values of `{name:Type}` and `${name}` placeholders: plain JSON, or `{fields: {…}}`.',
    }),
  ),
  name: Type.Optional(Type.String({ description: 'Where sql is absent: the saved query of that name.' })),
  queryId: Type.Optional(
    Type.String({ description: 'Where sql and name are absent: the saved query of that id.' }),
  ),
})

const RUN_ID_RULE = '1 to 64 of the characters A-Z, a-z, 0-9, _ and -'
/** What a caller names a run. */
export const SqlRunId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', 'x-rule': RUN_ID_RULE })

/** Body of `POST …/analytics/{owner}/{project}/sql/execute` (interface 2.3): a statement, or the cursor of an answer. */
export const SqlExecuteRequest = Type.Object({
  sqlQuery: Type.Optional(SqlQuery),
  cursor: Type.Optional(
    Type.String({ description: 'The cursor of the answer before; sqlQuery must not stand beside it.' }),
  ),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Processor version; absent or 0 is the active one.' }),
  ),
  cachePolicy: Type.Optional(CachePolicyRequest),
  runId: Type.Optional(
    Type.String({
      pattern: '^([A-Za-z0-9_-]{1,64})?$',
      'x-rule': RUN_ID_RULE,
      description:
        'A name of your choice: `GET …/sql/runs/{runId}` then tells how far it is, and `computeStats.rowsRead` how many rows it has read.',
    }),
  ),
  format: Type.Optional(
    Type.Union(
      [Type.Literal('csv'), Type.Literal('ndjson'), Type.Literal('arrow'), Type.Literal('parquet')],
      {
        description: 'Absent: JSON in pages. Else the whole result as one file. Also a query parameter.',
      },
    ),
  ),
})
export type SqlExecuteRequest = Type.Static<typeof SqlExecuteRequest>

/** What a column holds (SQ-4). */
export const SqlColumnType = Type.Union([
  Type.Literal('STRING'),
  Type.Literal('NUMBER'),
  Type.Literal('BOOLEAN'),
  Type.Literal('LIST'),
  Type.Literal('TIME'),
  Type.Literal('MAP'),
  Type.Literal('JSON'),
  Type.Literal('TOKEN'),
  Type.Literal('DYNAMIC'),
])

/** One page of a result (SQ-3). */
export const SqlResult = Type.Object({
  columns: Type.Array(Type.String()),
  columnTypes: Type.Record(Type.String(), SqlColumnType),
  rows: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  generatedAt: Type.String({ description: 'When the statement was executed, RFC 3339.' }),
  cursor: Type.String({ description: 'Where the next page begins; empty when there is none.' }),
})

/** Answer of a SQL statement: one page (SQ-3). */
export const SqlExecuteAnswer = Type.Object({
  runtimeCost: Type.String({ description: 'Milliseconds, decimal.' }),
  result: SqlResult,
  computeStats: ComputeStats,
  warnings: Type.Optional(Type.Array(Type.String())),
  cursor: Type.Optional(Type.String({ description: 'The same cursor, under /api/v1.' })),
  compute_stats: Type.Optional(InterfaceComputeStats),
})
export type SqlExecuteAnswer = Type.Static<typeof SqlExecuteAnswer>

/** Query of `sql/execute`. */
export const SqlExecuteQuery = Type.Object({ format: SqlExecuteRequest.properties.format })

/** Body of `POST …/sql/execute/async` (SQ-8). */
export const SqlAsyncRequest = Type.Object({
  sqlQuery: SqlQuery,
  version: Type.Optional(Type.Integer({ minimum: 0, description: 'Absent or 0 is the active one.' })),
})

/** Answer of `POST …/sql/execute/async`. */
export const SqlAsyncAnswer = Type.Object({
  queryId: Type.String({ description: 'Runs the same statement again, as `sqlQuery.queryId`.' }),
  executionId: Type.String(),
  queueLength: Type.Integer({ description: 'Statements of the project that wait for their turn.' }),
  warnings: Type.Optional(Type.Array(Type.String())),
})

/** An asynchronous execution. KILLED: it ended without a result, and `error` says why. */
export const SqlExecutionInfo = Type.Object({
  queryId: Type.String(),
  executionId: Type.String(),
  status: Type.Union([
    Type.Literal('PENDING'),
    Type.Literal('RUNNING'),
    Type.Literal('FINISHED'),
    Type.Literal('KILLED'),
  ]),
  scheduledAt: Type.String({ description: 'RFC 3339.' }),
  startedAt: Type.Optional(Type.String()),
  finishedAt: Type.Optional(Type.String()),
  processorVersion: Type.Integer(),
  error: Type.Optional(Type.String()),
  result: Type.Optional(SqlResult),
  computeStats: Type.Optional(ComputeStats),
})

/** Answer of `GET …/sql/query_result/{executionId}`. */
export const SqlExecutionAnswer = Type.Object({ executionInfo: SqlExecutionInfo })
export type SqlExecutionAnswer = Type.Static<typeof SqlExecutionAnswer>

/** Answer of `GET …/sql/query_execution_detail/{executionId}`. */
export const SqlExecutionDetail = Type.Object({ computeStats: ComputeStats })

/** Answer of `GET …/sql/runs/{runId}`. */
export const SqlRunProgress = Type.Object({
  isRunning: Type.Boolean({
    description: 'False where no statement of that name is at work: it waits, has ended, or never was.',
  }),
  rowsRead: Type.Optional(Type.Integer()),
  rowsToRead: Type.Optional(
    Type.Integer({ description: 'What the engine expects to read, of what it has begun to read.' }),
  ),
  elapsedMs: Type.Optional(Type.Integer()),
})
export type SqlRunProgress = Type.Static<typeof SqlRunProgress>

/** Body of `POST` and `PUT …/sql/save`. */
export const SqlSaveRequest = Type.Object({ sqlQuery: SqlQuery })

/** Answer of `…/sql/save`. */
export const SqlSaveAnswer = Type.Object({ queryId: Type.String() })

/** Answer of `GET …/sql/queries`. */
export const SqlSavedQueries = Type.Object({
  queries: Type.Array(
    Type.Object({
      queryId: Type.String(),
      name: Type.String(),
      sql: Type.String(),
      parameters: Type.Record(Type.String(), Type.Unknown()),
      size: Type.Optional(Type.Integer()),
      savedAt: Type.String({ description: 'RFC 3339.' }),
    }),
  ),
})

/** Answer of `GET …/sql/tables`: the tables by their names. */
export const SqlTables = Type.Object({
  tables: Type.Record(
    Type.String(),
    Type.Object({
      name: Type.String(),
      tableType: Type.Union([Type.Literal('EVENT'), Type.Literal('METRICS'), Type.Literal('ENTITY')]),
      columns: Type.Record(
        Type.String(),
        Type.Object({
          name: Type.String(),
          columnType: SqlColumnType,
          clickhouseDataType: Type.String(),
        }),
      ),
    }),
  ),
})
