import type { Selectable } from 'kysely'
import type { Project } from '../projects/project.ts'
import type { ProjectStore } from '../projects/project-store.ts'
import { removeChannelsOfProject } from './channel-store-removal.ts'
import { versionMethods } from './project-store-versions.ts'
import type { ControlDatabase } from './database.ts'
import type { ProjectTables } from './schema/projects.ts'
import { inTransaction } from './transaction.ts'

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
      inTransaction(db, async (tx) => {
        await removeChannelsOfProject(tx, projectId)
        await tx.deleteFrom('project').where('id', '=', projectId).execute()
      }),

    ...versionMethods(db),
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
