import type { AnsweredWrites } from '../cache/answered-writes.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { admitStatement, type AdmittedStatement } from './admit-statement.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { bindParameters } from './parameters.ts'
import { placeError, type StatementSource } from './place-error.ts'
import { createRecentValues } from '../platform/recent-values.ts'
import type { SqlEngine, SqlParameters, SqlScope } from './sql-engine.ts'

/** A statement that may run, and on what. */
export interface PreparedStatement {
  readonly scope: SqlScope
  readonly statement: AdmittedStatement
  readonly parameters: SqlParameters
  readonly source: StatementSource
}

/**
 * Binds parameters and admits a statement of a project (SQ-2, SQ-6). Every way to run one leads through here, so here it waits for what was
 * answered and is not stored yet.
 */
export type PrepareStatement = (
  project: Project,
  given: {
    readonly sql: string
    readonly parameters: Readonly<Record<string, unknown>>
    readonly version: number | null
  },
) => Promise<PreparedStatement>

/** Characters of the admitted statements that are remembered, all together. */
const REMEMBERED_CHARACTERS_MAX = 8_000_000
/** The version that a project without one reads: it has no tables. */
const NO_VERSION = 0

export function createPrepareStatement(
  engine: SqlEngine,
  functions: () => Promise<AllowedFunctions>,
  answered?: AnsweredWrites,
): PrepareStatement {
  // What may run depends on the text and the values alone, not on who asks.
  const admitted = createRecentValues<AdmittedStatement>(REMEMBERED_CHARACTERS_MAX)

  return async (project, given) => {
    const { sql, parameters, source } = bindParameters(given.sql, given.parameters)
    const key = JSON.stringify([sql, parameters])
    let statement = admitted.get(key)
    if (!statement) {
      try {
        statement = await admitStatement(engine, await functions(), sql, parameters)
      } catch (error) {
        throw placeError(error, source)
      }
      admitted.put(key, statement, key.length + statement.canonical.length)
    }
    const scope = scopeOf(project, given.version)
    const names = statement.scope.tables
    await answered?.whenStored(scope, () => ({ names, fromMicros: null, toMicros: null }))
    return { scope, statement, parameters, source }
  }
}

/** What a statement of the project reads when it asks for a version, or for none. */
export function scopeOf(project: Project, asked: number | null): SqlScope {
  const active = project.activeVersion ?? NO_VERSION
  const version = asked === null || asked === 0 ? active : asked
  if (!Number.isSafeInteger(version)) throw new ServiceError('not_found', `version ${version} has no data`)
  return { projectId: project.id, version, isActive: version === active }
}
