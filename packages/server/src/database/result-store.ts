import { sql } from 'kysely'
import type { ResultStore } from '../cache/result-store.ts'
import type { ControlDatabase } from './database.ts'
import { fairLevel } from './fair-level.ts'
import { createStatement, type StandIns } from './statement.ts'

/** Bytes of an answer and of all that its project used after it. */
const RUNNING_BYTES =
  sql<number>`sum(body_bytes) over (partition by project_id order by used_at desc, key_hash rows unbounded preceding)`.as(
    'running_bytes',
  )

/** Cached answers in the control database. */
export function createResultStore(db: ControlDatabase): ResultStore {
  const find = createStatement(
    (given: StandIns<{ readonly keyHash: Uint8Array; readonly newerThan: number }>) =>
      db
        .selectFrom('cached_result')
        .select(['project_id', 'body', 'computed_at', 'compute_cost_ms', 'used_at', 'basis'])
        .where('key_hash', '=', given.keyHash)
        .where('computed_at', '>', given.newerThan)
        .compile(),
  )

  return {
    read: async (keyHash, newerThan) => {
      const { rows } = await find(db, { keyHash, newerThan })
      const [row] = rows
      if (!row) return null
      return {
        projectId: row.project_id,
        body: row.body,
        computedAt: row.computed_at,
        computeCostMs: row.compute_cost_ms,
        usedAt: row.used_at,
        basis: row.basis,
      }
    },

    write: async (results) => {
      const rows = results.map((result) => ({
        key_hash: result.keyHash,
        project_id: result.projectId,
        body: result.body,
        body_bytes: result.body.byteLength,
        computed_at: result.computedAt,
        compute_cost_ms: result.computeCostMs,
        used_at: result.usedAt,
        basis: result.basis,
      }))
      await db
        .insertInto('cached_result')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('key_hash')
            .doUpdateSet(({ ref }) => ({
              project_id: ref('excluded.project_id'),
              body: ref('excluded.body'),
              body_bytes: ref('excluded.body_bytes'),
              computed_at: ref('excluded.computed_at'),
              compute_cost_ms: ref('excluded.compute_cost_ms'),
              used_at: ref('excluded.used_at'),
              basis: ref('excluded.basis'),
            }))
            .whereRef('cached_result.computed_at', '<=', 'excluded.computed_at'),
        )
        .execute()
    },

    renew: async (keyHash, { from, to }) => {
      await db
        .updateTable('cached_result')
        .set({ computed_at: to })
        .where('key_hash', '=', keyHash)
        .where('computed_at', '=', from)
        .execute()
    },

    touch: async (keyHash, usedAt) => {
      await db
        .updateTable('cached_result')
        .set({ used_at: usedAt })
        .where('key_hash', '=', keyHash)
        .where('used_at', '<', usedAt)
        .execute()
    },

    evict: async ({ computedBefore, bytesMax }) => {
      await db.deleteFrom('cached_result').where('computed_at', '<', computedBefore).execute()
      const shares = await db
        .selectFrom('cached_result')
        .select((eb) => eb.fn.sum<number>('body_bytes').as('bytes'))
        .groupBy('project_id')
        .execute()
      const level = fairLevel(
        shares.map(({ bytes }) => bytes),
        bytesMax,
      )
      if (level === Infinity) return
      await db
        .deleteFrom('cached_result')
        .where('key_hash', 'in', (eb) =>
          eb
            .selectFrom(eb.selectFrom('cached_result').select(['key_hash', RUNNING_BYTES]).as('by_use'))
            .select('key_hash')
            .where('running_bytes', '>', level),
        )
        .execute()
    },
  }
}
