import type { SavedQuery, SavedQueryStore } from '../analytics/saved-query.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ControlDatabase } from './database.ts'
import type { ControlSchema } from './schema.ts'

/** Saved queries in the control database. */
export function createSavedQueryStore(db: ControlDatabase): SavedQueryStore {
  const ofProject = (projectId: number) =>
    db.selectFrom('sql_query').selectAll().where('project_id', '=', projectId)

  return {
    put: async (query) => {
      const { name, sql, pageSize, savedAt } = query
      if (name !== null) {
        const other = await ofProject(query.projectId).where('name', '=', name).executeTakeFirst()
        if (other && other.id !== query.id) {
          throw new ServiceError('already_exists', `a saved query named ${name} exists already`)
        }
      }
      const changed = {
        name,
        sql,
        parameters: JSON.stringify(query.parameters),
        page_size: pageSize,
        saved_at: savedAt,
      }
      await db
        .insertInto('sql_query')
        .values({ id: query.id, project_id: query.projectId, ...changed })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
        .execute()
    },

    findById: async (projectId, id) => {
      const row = await ofProject(projectId).where('id', '=', id).executeTakeFirst()
      return row ? toQuery(row) : null
    },

    findByName: async (projectId, name) => {
      const row = await ofProject(projectId).where('name', '=', name).executeTakeFirst()
      return row ? toQuery(row) : null
    },

    list: async (projectId) => {
      const rows = await ofProject(projectId).where('name', 'is not', null).orderBy('name').execute()
      return rows.map(toQuery)
    },

    remove: async (projectId, id) => {
      const { numDeletedRows } = await db
        .deleteFrom('sql_query')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    expire: async (savedBefore) => {
      const { numDeletedRows } = await db
        .deleteFrom('sql_query')
        .where('name', 'is', null)
        .where('saved_at', '<', savedBefore)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

function toQuery(row: ControlSchema['sql_query']): SavedQuery {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    sql: row.sql,
    parameters: JSON.parse(row.parameters) as Readonly<Record<string, unknown>>,
    pageSize: row.page_size,
    savedAt: row.saved_at,
  }
}
