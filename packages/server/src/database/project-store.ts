import type { Selectable } from 'kysely'
import type { Project } from '../projects/project.ts'
import type { ProjectStore } from '../projects/project-store.ts'
import { removeChannelsOfProject } from './channel-store-removal.ts'
import type { ControlDatabase } from './database.ts'
import type { ProjectTables } from './schema/projects.ts'

/** Projects in the control database. */
export function createProjectStore(db: ControlDatabase): ProjectStore {
  return {
    insert: async (project, nowMs) => {
      const row = await db
        .insertInto('project')
        .values({
          owner: project.owner,
          name: project.name,
          type: project.type,
          is_public: project.isPublic ? 1 : 0,
          active_version: null,
          created_at: nowMs,
        })
        .onConflict((conflict) => conflict.columns(['owner', 'name']).doNothing())
        .returningAll()
        .executeTakeFirst()
      return row ? fromRow(row) : null
    },

    find: async (owner, name) => {
      const row = await db
        .selectFrom('project')
        .selectAll()
        .where('owner', '=', owner)
        .where('name', '=', name)
        .executeTakeFirst()
      return row ? fromRow(row) : null
    },

    list: async (owner) => {
      let query = db.selectFrom('project').selectAll().orderBy('owner').orderBy('name')
      if (owner !== null) query = query.where('owner', '=', owner)
      return (await query.execute()).map(fromRow)
    },

    setPublic: async (projectId, isPublic) => {
      const row = await db
        .updateTable('project')
        .set({ is_public: isPublic ? 1 : 0 })
        .where('id', '=', projectId)
        .returningAll()
        .executeTakeFirst()
      return row ? fromRow(row) : null
    },

    remove: (projectId) =>
      db.transaction().execute(async (tx) => {
        await removeChannelsOfProject(tx, projectId)
        await tx.deleteFrom('project').where('id', '=', projectId).execute()
      }),

    versions: async (projectId) => {
      const rows = await db
        .selectFrom('project_version')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('number')
        .execute()
      return rows.map((row) => ({ number: row.number, state: row.state, createdAt: row.created_at }))
    },

    ensureFirstVersion: (projectId, nowMs) =>
      db.transaction().execute(async (tx) => {
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
  }
}

function fromRow(row: Selectable<ProjectTables['project']>): Project {
  return {
    id: row.id,
    owner: row.owner,
    name: row.name,
    type: row.type,
    isPublic: row.is_public === 1,
    activeVersion: row.active_version,
  }
}
