import type { Column } from '../analytics/columns.ts'
import type { ResultFailure, Spool } from '../analytics/spool.ts'
import type { ControlDatabase } from './database.ts'
import { inTransaction } from './transaction.ts'

/** Results are marked as used at most this often: reading pages should not write. */
const TOUCH_EVERY_MS = 60_000

/** Whole results of SQL statements in the control database. */
export function createSqlSpool(db: ControlDatabase): Spool {
  const drop = async (resultId: string): Promise<void> => {
    await db.deleteFrom('sql_result').where('id', '=', resultId).execute()
  }

  const sumBytes = async (projectId: number | null): Promise<number> => {
    let query = db
      .selectFrom('sql_result_chunk')
      .select((eb) => eb.fn.sum<number | string>('body_bytes').as('bytes'))
    if (projectId !== null) query = query.where('project_id', '=', projectId)
    return Number((await query.executeTakeFirst())?.bytes ?? 0)
  }

  return {
    begin: async ({ id, projectId, columns, generatedAt }) => {
      await db
        .insertInto('sql_result')
        .values({
          id,
          project_id: projectId,
          columns: JSON.stringify(columns),
          row_count: null,
          generated_at: generatedAt,
          used_at: generatedAt,
          failure: null,
          written_at: generatedAt,
        })
        .execute()
    },

    append: async (resultId, { firstRow, rowCount, body }) => {
      await db
        .insertInto('sql_result_chunk')
        .columns(['result_id', 'project_id', 'first_row', 'row_count', 'body_bytes', 'body'])
        .expression((eb) =>
          eb
            .selectFrom('sql_result')
            .select((each) => [
              'id',
              'project_id',
              each.cast<number>(each.val(firstRow), 'bigint').as('first_row'),
              each.cast<number>(each.val(rowCount), 'bigint').as('row_count'),
              each.cast<number>(each.val(body.byteLength), 'bigint').as('body_bytes'),
              each.val(body).as('body'),
            ])
            .where('id', '=', resultId),
        )
        .execute()
    },

    finish: async (resultId, rowCount) => {
      await db.updateTable('sql_result').set({ row_count: rowCount }).where('id', '=', resultId).execute()
    },

    beat: async (resultId, now) => {
      await db.updateTable('sql_result').set({ written_at: now }).where('id', '=', resultId).execute()
    },

    // In one transaction: whoever reads the failure finds no row of it kept.
    fail: (resultId, failure) =>
      inTransaction(db, async (tx) => {
        await tx
          .updateTable('sql_result')
          .set({ failure: JSON.stringify(failure) })
          .where('id', '=', resultId)
          .execute()
        await tx.deleteFrom('sql_result_chunk').where('result_id', '=', resultId).execute()
      }),

    drop,

    use: async (resultId, projectId, now) => {
      const row = await db
        .selectFrom('sql_result')
        .selectAll()
        .where('id', '=', resultId)
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      if (!row) return null
      if (now - row.used_at >= TOUCH_EVERY_MS) {
        await db.updateTable('sql_result').set({ used_at: now }).where('id', '=', resultId).execute()
      }
      return {
        id: row.id,
        projectId: row.project_id,
        columns: JSON.parse(row.columns) as readonly Column[],
        rowCount: row.row_count,
        failure: row.failure === null ? null : (JSON.parse(row.failure) as ResultFailure),
        generatedAt: row.generated_at,
        writtenAt: row.written_at ?? row.generated_at,
      }
    },

    chunkAt: async (resultId, row) => {
      const found = await db
        .selectFrom('sql_result_chunk')
        .select(['first_row', 'row_count', 'body'])
        .where('result_id', '=', resultId)
        .where('first_row', '<=', row)
        .orderBy('first_row', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!found || found.first_row + found.row_count <= row) return null
      return { firstRow: found.first_row, rowCount: found.row_count, body: found.body }
    },

    usage: async (projectId) => ({
      projectBytes: await sumBytes(projectId),
      totalBytes: await sumBytes(null),
    }),

    expire: async (usedBefore) => {
      // A use is written down to the minute, so a result may have been used up to that much later than it says.
      const deleted = await db
        .deleteFrom('sql_result')
        .where('used_at', '<', usedBefore - TOUCH_EVERY_MS)
        .executeTakeFirst()
      return Number(deleted.numDeletedRows)
    },
  }
}
