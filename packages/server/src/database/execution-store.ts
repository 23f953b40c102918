import type { ExecutionStore, SqlExecution } from '../analytics/execution.ts'
import type { ControlDatabase } from './database.ts'
import type { ControlSchema } from './schema.ts'

/** Asynchronous executions in the control database. */
export function createExecutionStore(db: ControlDatabase): ExecutionStore {
  const changeUnended = (id: string) =>
    db.updateTable('sql_execution').where('id', '=', id).where('status', 'in', ['PENDING', 'RUNNING'])

  return {
    add: async (execution) => {
      await db
        .insertInto('sql_execution')
        .values({
          id: execution.id,
          project_id: execution.projectId,
          query_id: execution.queryId,
          version: execution.version,
          status: execution.status,
          page_size: execution.pageSize,
          owner: execution.owner,
          request_hash: execution.requestHash,
          idempotency_key: execution.idempotencyKey,
          result_id: execution.resultId,
          error: null,
          is_cancel_wanted: 0,
          scheduled_at: execution.scheduledAt,
          started_at: null,
          finished_at: null,
          beat_at: execution.scheduledAt,
        })
        .onConflict((conflict) => conflict.columns(['project_id', 'idempotency_key']).doNothing())
        .execute()
      const { idempotencyKey } = execution
      if (idempotencyKey === null) return execution
      const row = await db
        .selectFrom('sql_execution')
        .selectAll()
        .where('project_id', '=', execution.projectId)
        .where('idempotency_key', '=', idempotencyKey)
        .executeTakeFirstOrThrow()
      return toExecution(row)
    },

    find: async (projectId, id) => {
      const row = await db
        .selectFrom('sql_execution')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? toExecution(row) : null
    },

    markRunning: async (id, startedAt) => {
      await changeUnended(id).set({ status: 'RUNNING', started_at: startedAt }).execute()
    },

    markFinished: async (id, finishedAt) => {
      await changeUnended(id).set({ status: 'FINISHED', finished_at: finishedAt }).execute()
    },

    markKilled: async (id, finishedAt, error) => {
      const { numUpdatedRows } = await changeUnended(id)
        .set({ status: 'KILLED', finished_at: finishedAt, error })
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    wantCancel: async (id) => {
      await changeUnended(id).set({ is_cancel_wanted: 1 }).execute()
    },

    beat: async (owner, now) => {
      const rows = await db
        .updateTable('sql_execution')
        .set({ beat_at: now })
        .where('owner', '=', owner)
        .where('status', 'in', ['PENDING', 'RUNNING'])
        .returning(['id', 'is_cancel_wanted'])
        .execute()
      return rows.filter((row) => row.is_cancel_wanted === 1).map(({ id }) => id)
    },

    killAbandoned: async (beatBefore, finishedAt, error) => {
      const { numUpdatedRows } = await db
        .updateTable('sql_execution')
        .set({ status: 'KILLED', finished_at: finishedAt, error })
        .where('status', 'in', ['PENDING', 'RUNNING'])
        .where('beat_at', '<', beatBefore)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },

    expire: async (scheduledBefore) => {
      const { numDeletedRows } = await db
        .deleteFrom('sql_execution')
        .where('scheduled_at', '<', scheduledBefore)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

function toExecution(row: ControlSchema['sql_execution']): SqlExecution {
  return {
    id: row.id,
    projectId: row.project_id,
    queryId: row.query_id,
    version: row.version,
    status: row.status,
    pageSize: row.page_size,
    owner: row.owner,
    requestHash: row.request_hash,
    idempotencyKey: row.idempotency_key,
    resultId: row.result_id,
    error: row.error,
    scheduledAt: row.scheduled_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}
