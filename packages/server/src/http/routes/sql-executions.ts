import {
  SqlAsyncAnswer,
  SqlAsyncRequest,
  SqlExecutionAnswer,
  SqlExecutionDetail,
  SqlRunId,
  SqlRunProgress,
} from '@millrace/contract'
import { Type } from 'typebox'
import type { Analytics } from '../../analytics/analytics.ts'
import type { SqlExecution } from '../../analytics/execution.ts'
import { AnswerParts } from '../answer-parts.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { statsToWire } from './query-range.ts'
import { queryReference } from './sql-query.ts'
import { withResult } from './sql-result.ts'

const PATH = '/analytics/:owner/:project/sql'
const OfExecution = Type.Object({ owner: Type.String(), project: Type.String(), executionId: Type.String() })

/** Asynchronous executions: start, result, detail, cancel (SQ-8); and how far a run is. */
export function sqlExecutionRoutes({
  executions,
  progress,
}: Pick<Analytics, 'executions' | 'progress'>): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/execute/async`,
      permission: 'read',
      isPublicReadable: true,
      summary: 'Queues a SQL statement; its result is asked for later.',
      description: 'A repeated request with the same `Idempotency-Key` header joins the first one.',
      tag: 'sql',
      body: SqlAsyncRequest,
      answer: SqlAsyncAnswer,
      handle: async ({ body, project, headers }) => {
        const key = headers['idempotency-key']
        const { execution, queueLength, warnings } = await executions.start(project, {
          ...queryReference(body.sqlQuery),
          version: body.version ?? null,
          idempotencyKey: typeof key === 'string' && key !== '' ? key : null,
        })
        const told = [...hintsOf(body), ...warnings]
        return {
          queryId: execution.queryId,
          executionId: execution.id,
          queueLength,
          ...(told.length === 0 ? {} : { warnings: told }),
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/query_result/:executionId`,
      permission: 'read',
      isPublicReadable: true,
      summary: 'The state of an asynchronous execution, and the first page of its result.',
      description: 'Later pages: the cursor goes to `sql/execute`.',
      tag: 'sql',
      params: OfExecution,
      answer: SqlExecutionAnswer,
      handle: async ({ params, project, signal, setHeader }) => {
        const { execution, page, cursor } = await executions.view(project, params.executionId, signal)
        const info = executionToWire(execution)
        if (!page) return { executionInfo: info }
        setHeader('content-type', 'application/json; charset=utf-8')
        const { parts } = withResult(info, page, cursor)
        const [before, after] = [Buffer.from('{"executionInfo":'), Buffer.from('}')]
        return new AnswerParts([before, ...parts, after]).body(setHeader)
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/query_execution_detail/:executionId`,
      permission: 'read',
      isPublicReadable: true,
      summary: 'What an asynchronous execution has cost.',
      tag: 'sql',
      params: OfExecution,
      answer: SqlExecutionDetail,
      handle: async ({ params, project }) => ({
        computeStats: statsOf(await executions.find(project, params.executionId)),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${PATH}/runs/:runId`,
      permission: 'read',
      isPublicReadable: true,
      summary: 'How many rows a running statement has read.',
      description: 'The run is named by `runId` of `sql/execute`, or is an execution’s id.',
      tag: 'sql',
      params: Type.Object({ owner: Type.String(), project: Type.String(), runId: SqlRunId }),
      answer: SqlRunProgress,
      handle: async ({ params, project }) => {
        const found = await progress(project, params.runId)
        if (!found) return { isRunning: false }
        const { rowsRead, rowsToRead, elapsedMs } = found
        return { isRunning: true, rowsRead, elapsedMs, ...(rowsToRead === 0 ? {} : { rowsToRead }) }
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${PATH}/cancel_query/:executionId`,
      permission: 'read',
      summary: 'Cancels an asynchronous execution; one that has ended stays as it is.',
      tag: 'sql',
      params: OfExecution,
      answer: SqlExecutionAnswer,
      handle: async ({ params, project }) => ({
        executionInfo: executionToWire(await executions.cancel(project, params.executionId)),
      }),
    }),
  ]
}

function executionToWire(execution: SqlExecution) {
  const { startedAt, finishedAt, error } = execution
  return {
    queryId: execution.queryId,
    executionId: execution.id,
    status: execution.status,
    scheduledAt: toInstant(execution.scheduledAt),
    ...(startedAt === null ? {} : { startedAt: toInstant(startedAt) }),
    ...(finishedAt === null ? {} : { finishedAt: toInstant(finishedAt) }),
    processorVersion: execution.version,
    ...(error === null ? {} : { error }),
    ...(execution.status === 'FINISHED' ? { computeStats: statsOf(execution) } : {}),
  }
}

function statsOf({ scheduledAt, startedAt, finishedAt }: SqlExecution) {
  const computedAt = startedAt ?? scheduledAt
  const computeCostMs = finishedAt === null ? 0 : finishedAt - computedAt
  return statsToWire({ computedAt, computeCostMs, isCached: false, isRefreshing: false })
}

function toInstant(at: number): string {
  return new Date(at).toISOString()
}
