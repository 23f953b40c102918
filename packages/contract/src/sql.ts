import { Type } from 'typebox'
import { CachePolicyRequest } from './cache.ts'
import { ComputeStats, InterfaceComputeStats } from './metrics.ts'

/** Body of `POST …/analytics/{owner}/{project}/sql/execute` (interface 2.3): a statement, or the cursor of an answer. */
export const SqlExecuteRequest = Type.Object({
  sqlQuery: Type.Optional(
    Type.Object({
      sql: Type.Optional(
        Type.String({ description: 'One SELECT-like statement in the dialect of ClickHouse.' }),
      ),
      size: Type.Optional(
        Type.Integer({
          description: 'Rows a page. Absent: 1000. More than 1 000 000 is served as that, with a cursor.',
        }),
      ),
      parameters: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'Values of `{name:Type}` placeholders.' }),
      ),
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'The cursor of the answer before; sqlQuery must not stand beside it.' }),
  ),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Processor version; absent or 0 is the active one.' }),
  ),
  cachePolicy: Type.Optional(CachePolicyRequest),
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

/** Answer of a SQL statement: one page (SQ-3). */
export const SqlExecuteAnswer = Type.Object({
  runtimeCost: Type.String({ description: 'Milliseconds, decimal.' }),
  result: Type.Object({
    columns: Type.Array(Type.String()),
    columnTypes: Type.Record(Type.String(), SqlColumnType),
    rows: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    generatedAt: Type.String({ description: 'When the statement was executed, RFC 3339.' }),
    cursor: Type.String({ description: 'Where the next page begins; empty when there is none.' }),
  }),
  computeStats: ComputeStats,
  warnings: Type.Optional(Type.Array(Type.String())),
  cursor: Type.Optional(Type.String({ description: 'The same cursor, under /api/v1.' })),
  compute_stats: Type.Optional(InterfaceComputeStats),
})
export type SqlExecuteAnswer = Type.Static<typeof SqlExecuteAnswer>
