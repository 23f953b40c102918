import type { ProjectStore } from '../projects/project-store.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { inTransaction } from './transaction.ts'

type VersionMethods = Pick<
  ProjectStore,
  'versions' | 'ensureFirstVersion' | 'addVersion' | 'activateVersion' | 'removeVersion'
>

/** Processor versions in the control database. Whatever changes them holds the lock of the project's row. */
export function versionMethods(db: ControlDatabase): VersionMethods {
  return {
    versions: async (projectId) => {
      const rows = await db
        .selectFrom('project_version')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('state', '!=', 'deleted')
        .orderBy('number')
        .execute()
      return rows.map((row) => ({
        number: row.number,
        state: row.state === 'active' ? 'active' : 'pending',
        createdAt: row.created_at,
      }))
    },

    ensureFirstVersion: (projectId, nowMs) =>
      inTransaction(db, async (tx) => {
        // Takes the row's lock, so that two instances agree; only the first finds no active version.
        const first = await tx
          .updateTable('project')
          .set({ active_version: 1 })
          .where('id', '=', projectId)
          .where('active_version', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (first) {
          await tx
            .insertInto('project_version')
            .values({ project_id: projectId, number: 1, state: 'active', created_at: nowMs })
            .onConflict((conflict) =>
              conflict.columns(['project_id', 'number']).doUpdateSet({ state: 'active' }),
            )
            .execute()
          return 1
        }
        const row = await tx
          .selectFrom('project')
          .select('active_version')
          .where('id', '=', projectId)
          .executeTakeFirst()
        if (!row?.active_version) throw new Error(`project ${projectId} is gone`)
        return row.active_version
      }),

    addVersion: (projectId, nowMs) =>
      inTransaction(db, async (tx) => {
        const active = await lockProject(tx, projectId)
        const newest = await tx
          .selectFrom('project_version')
          .select((eb) => eb.fn.max('number').as('number'))
          .where('project_id', '=', projectId)
          .executeTakeFirst()
        const number = (newest?.number ?? 0) + 1
        const state = active === null ? ('active' as const) : ('pending' as const)
        await tx
          .insertInto('project_version')
          .values({ project_id: projectId, number, state, created_at: nowMs })
          .execute()
        if (active === null) await setActive(tx, projectId, number)
        return { number, state, createdAt: nowMs }
      }),

    activateVersion: (projectId, version) =>
      inTransaction(db, async (tx) => {
        await lockProject(tx, projectId)
        if ((await stateOf(tx, projectId, version)) === undefined) return false
        await tx
          .updateTable('project_version')
          .set({ state: 'pending' })
          .where('project_id', '=', projectId)
          .where('state', '=', 'active')
          .execute()
        await tx
          .updateTable('project_version')
          .set({ state: 'active' })
          .where('project_id', '=', projectId)
          .where('number', '=', version)
          .execute()
        await setActive(tx, projectId, version)
        return true
      }),

    removeVersion: (projectId, version) =>
      inTransaction(db, async (tx) => {
        await lockProject(tx, projectId)
        const state = await stateOf(tx, projectId, version)
        if (state === undefined) return 'unknown'
        if (state === 'active') return 'active'
        await tx
          .updateTable('project_version')
          .set({ state: 'deleted' })
          .where('project_id', '=', projectId)
          .where('number', '=', version)
          .execute()
        return 'removed'
      }),
  }
}

/** Takes the lock of the project's row; returns the active version. */
async function lockProject(tx: ControlTransaction, projectId: number): Promise<number | null> {
  const row = await tx
    .updateTable('project')
    .set((eb) => ({ active_version: eb.ref('active_version') }))
    .where('id', '=', projectId)
    .returning('active_version')
    .executeTakeFirst()
  if (!row) throw new Error(`project ${projectId} is gone`)
  return row.active_version
}

async function setActive(tx: ControlTransaction, projectId: number, version: number): Promise<void> {
  await tx.updateTable('project').set({ active_version: version }).where('id', '=', projectId).execute()
}

/** Undefined for a version that never was or is deleted. */
async function stateOf(
  tx: ControlTransaction,
  projectId: number,
  version: number,
): Promise<'pending' | 'active' | undefined> {
  const row = await tx
    .selectFrom('project_version')
    .select('state')
    .where('project_id', '=', projectId)
    .where('number', '=', version)
    .executeTakeFirst()
  return row?.state === 'deleted' ? undefined : row?.state
}
