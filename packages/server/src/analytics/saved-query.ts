import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'

/** A statement that is kept, to be run by its name or id (SQ-8). */
export interface SavedQuery {
  readonly id: string
  readonly projectId: number
  /** Unique in its project; null for what an asynchronous execution has kept. */
  readonly name: string | null
  readonly sql: string
  /** Values where a request brings none. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly pageSize: number | null
  readonly savedAt: number
}

/** Where saved queries are kept. */
export interface SavedQueryStore {
  /** Puts a query in the place of the one with its id. Throws `already_exists` when another of the project has its name. */
  put(query: SavedQuery): Promise<void>
  findById(projectId: number, id: string): Promise<SavedQuery | null>
  findByName(projectId: number, name: string): Promise<SavedQuery | null>
  list(projectId: number): Promise<readonly SavedQuery[]>
  remove(projectId: number, id: string): Promise<boolean>
  /** Removes those without a name that are older; returns how many. */
  expire(savedBefore: number): Promise<number>
}

/** A statement, or the saved query that holds it. */
export interface QueryReference {
  readonly sql: string | null
  readonly name: string | null
  readonly queryId: string | null
  readonly pageSize: number | null
  readonly parameters: Readonly<Record<string, unknown>>
}

/** What a reference leads to. */
export interface ResolvedQuery {
  readonly sql: string
  readonly queryId: string | null
  readonly pageSize: number | null
  readonly parameters: Readonly<Record<string, unknown>>
}

/** The statement itself, else the query of that name, else the one of that id. */
export async function resolveQuery(
  store: SavedQueryStore,
  project: Project,
  reference: QueryReference,
): Promise<ResolvedQuery> {
  const { sql, name, queryId, pageSize, parameters } = reference
  if (sql !== null) return { sql, queryId: null, pageSize, parameters }
  if (name === null && queryId === null) {
    throw invalidArgument('sqlQuery.sql, sqlQuery.name, sqlQuery.queryId or cursor is required')
  }
  const found =
    name === null ? await store.findById(project.id, queryId ?? '') : await store.findByName(project.id, name)
  if (!found) {
    throw new ServiceError('not_found', `no saved query ${name === null ? queryId : `named ${name}`}`)
  }
  return {
    sql: found.sql,
    queryId: found.id,
    pageSize: pageSize ?? found.pageSize,
    parameters: { ...found.parameters, ...parameters },
  }
}
