import type { AnsweredWrites } from '../cache/answered-writes.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { createAdmission } from './admission.ts'
import type { AdmittedStatement } from './admit-statement.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { bindParameters } from './parameters.ts'
import { placeError, type StatementSource } from './place-error.ts'
import type { SqlEngine, SqlParameters, SqlScope } from './sql-engine.ts'

/** A statement that may run, and on what. */
export interface PreparedStatement {
  readonly scope: SqlScope
  readonly statement: AdmittedStatement
  readonly parameters: SqlParameters
  readonly source: StatementSource
  /** What of it was probably not meant so. */
  readonly warnings: readonly string[]
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

const NO_TOTALS = 'the totals of WITH TOTALS are not among the rows; WITH ROLLUP gives them as a row'
/** The version that a project without one reads: it has no tables. */
const NO_VERSION = 0

export function createPrepareStatement(
  engine: SqlEngine,
  functions: () => Promise<AllowedFunctions>,
  answered?: AnsweredWrites,
): PrepareStatement {
  const admit = createAdmission(engine, functions)

  return async (project, given) => {
    const { sql, parameters, source } = bindParameters(given.sql, given.parameters)
    let statement: AdmittedStatement
    try {
      statement = await admit(sql, parameters)
    } catch (error) {
      throw placeError(error, source)
    }
    const scope = scopeOf(project, given.version)
    const names = statement.scope.tables
    await answered?.whenStored(scope, () => ({ names, fromMicros: null, toMicros: null }))
    return { scope, statement, parameters, source, warnings: statement.hasTotals ? [NO_TOTALS] : [] }
  }
}

/** What a statement of the project reads when it asks for a version, or for none. */
export function scopeOf(project: Project, asked: number | null): SqlScope {
  const active = project.activeVersion ?? NO_VERSION
  const version = asked === null || asked === 0 ? active : asked
  if (!Number.isSafeInteger(version)) throw new ServiceError('not_found', `version ${version} has no data`)
  return { projectId: project.id, version, isActive: version === active }
}
