import type { Clock } from '../platform/clock.ts'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { Project } from '../projects/project.ts'
import type { PrepareStatement } from './prepare-statement.ts'
import type { QueryReference, SavedQuery, SavedQueryStore } from './saved-query.ts'

/** Keeps statements under a name (SQ-8). */
export interface SavedQueries {
  /** Saves a statement: in the place of the query with that id, else of the one with that name, else as a new one. */
  save(project: Project, query: QueryReference): Promise<SavedQuery>
  list(project: Project): Promise<readonly SavedQuery[]>
  remove(project: Project, id: string): Promise<void>
}

const NAME_CHARACTERS_MAX = 200

export function createSavedQueries(dependencies: {
  readonly store: SavedQueryStore
  readonly prepare: PrepareStatement
  readonly clock: Clock
}): SavedQueries {
  const { store, prepare, clock } = dependencies

  async function existing(project: Project, { queryId, name }: QueryReference): Promise<SavedQuery | null> {
    if (queryId !== null) {
      const found = await store.findById(project.id, queryId)
      if (!found) throw new ServiceError('not_found', `no saved query ${queryId}`)
      return found
    }
    return name === null ? null : store.findByName(project.id, name)
  }

  return {
    async save(project, query) {
      const { sql, parameters, pageSize } = query
      if (sql === null) throw invalidArgument('sqlQuery.sql is required')
      const old = await existing(project, query)
      const name = query.name ?? old?.name ?? null
      if (name === null || name.length > NAME_CHARACTERS_MAX) {
        throw invalidArgument(`sqlQuery.name is required, with at most ${NAME_CHARACTERS_MAX} characters`)
      }
      // What would never run is refused now. Values may come with each request, so a missing one says nothing.
      await prepare(project, { sql, parameters, version: null }).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || !/is required|is not set|Substitution/i.test(error.message)) {
          throw error
        }
      })
      const saved: SavedQuery = {
        id: old?.id ?? randomId(),
        projectId: project.id,
        name,
        sql,
        parameters,
        pageSize,
        savedAt: clock.now(),
      }
      await store.put(saved)
      return saved
    },
    list: (project) => store.list(project.id),
    async remove(project, id) {
      if (!(await store.remove(project.id, id))) throw new ServiceError('not_found', `no saved query ${id}`)
    },
  }
}
