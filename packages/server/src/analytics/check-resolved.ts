import { invalidArgument } from '../platform/errors.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import type { PreparedStatement } from './prepare-statement.ts'
import { createRecentValues } from '../platform/recent-values.ts'
import type { Execution, SqlEngine } from './sql-engine.ts'

/** Characters of the statements whose resolved form is remembered as good, all together. */
const REMEMBERED_CHARACTERS_MAX = 8_000_000
/** What the engine itself puts where a statement names no table, or reads its own rows again. */
const OWN = /^(system\.one$|_temporary_and_external_tables\.)/

/** Refuses a statement that the engine has resolved to anything but the project's tables. */
export type CheckResolved = (prepared: PreparedStatement, run: Execution) => Promise<void>

/**
 * The second look at a statement (SQ-2): what its names mean to the engine. It takes place beside the execution and
 * before the first row is read, and once for each statement and version, or each shape of statements (`learnShape`). Only statements whose parse was admitted get
 * here, as resolving computes scalar sub-queries.
 */
export function createCheckResolved(
  engine: SqlEngine,
  functions: () => Promise<AllowedFunctions>,
): CheckResolved {
  const good = createRecentValues<true>(REMEMBERED_CHARACTERS_MAX)

  return async ({ scope, statement, parameters }, run) => {
    if (!statement.isWrapped || statement.isExplain) return
    const text = statement.shape === undefined ? [statement.canonical, parameters] : [statement.shape]
    const key = JSON.stringify([scope.projectId, scope.version, ...text])
    if (good.get(key)) return
    const resolved = await engine.resolve(statement.sql, run)
    const { tables, tableFunctions, database } = resolved
    const foreign = tables.find((table) => !table.startsWith(`${database}.`) && !OWN.test(table))
    if (foreign !== undefined)
      throw invalidArgument('sqlQuery.sql: it reads a table that is not the project’s')
    const allowed = await functions()
    const refused = tableFunctions.find((name) => !allowed.allowsTable(name))
    if (refused !== undefined) {
      throw invalidArgument(`sqlQuery.sql: the table function ${refused} is not allowed`)
    }
    const unresolved = statement.lambdaNames.find((name) => resolved.functions.has(name))
    if (unresolved !== undefined) {
      throw invalidArgument(
        `sqlQuery.sql: the function ${unresolved} is not allowed outside of the query that defines it`,
      )
    }
    good.put(key, true, key.length)
  }
}
