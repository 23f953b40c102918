import { ServiceError } from '../platform/errors.ts'
import { createRecentValues } from '../platform/recent-values.ts'
import { admitStatement, trimStatement, type AdmittedStatement } from './admit-statement.ts'
import type { AllowedFunctions } from './allowed-functions.ts'
import { learnShape, marksOf, type CanonicalShape } from './learn-shape.ts'
import type { SqlEngine, SqlParameters } from './sql-engine.ts'
import { fillShape, shapeOf, type StatementShape } from './statement-shape.ts'

/** Admits a statement with the values of its placeholders, or throws why not (SQ-2). */
export type Admit = (sql: string, parameters: SqlParameters) => Promise<AdmittedStatement>

/** What is known of a shape: it came once, its statements are read one by one, or one stands for all. */
type KnownShape =
  'once' | 'apart' | { readonly statement: AdmittedStatement; readonly canonical: CanonicalShape }

/** Characters of the texts and of the shapes that are remembered, of each all together. */
const REMEMBERED_CHARACTERS_MAX = 8_000_000

/**
 * Admits statements, each text once, and of those that differ in plain numbers and compared texts alone only the first two: the second is read with
 * marks in place of these, and what is found then holds for every other (`learnShape`). What may run depends on the statement, not on who asks.
 */
export function createAdmission(engine: SqlEngine, functions: () => Promise<AllowedFunctions>): Admit {
  const texts = createRecentValues<AdmittedStatement>(REMEMBERED_CHARACTERS_MAX)
  const shapes = createRecentValues<KnownShape>(REMEMBERED_CHARACTERS_MAX)

  async function admitAlone(sql: string, parameters: SqlParameters): Promise<AdmittedStatement> {
    return (await admitStatement(engine, await functions(), sql, parameters)).statement
  }

  async function admitByShape(
    shape: StatementShape,
    sql: string,
    parameters: SqlParameters,
  ): Promise<AdmittedStatement> {
    const key = JSON.stringify([shape.key, Object.keys(parameters).toSorted()])
    const keep = (known: KnownShape): void => {
      shapes.put(key, known, typeof known === 'string' ? key.length : 2 * key.length)
    }
    let known = shapes.get(key)
    if (known === 'once') {
      known = await learn(shape, parameters, key)
      keep(known)
    }
    if (known !== undefined && typeof known !== 'string') return inShape(known, shape, sql)
    const statement = await admitAlone(sql, parameters)
    if (known === undefined) keep('once')
    return statement
  }

  async function learn(shape: StatementShape, parameters: SqlParameters, key: string): Promise<KnownShape> {
    const marks = marksOf(shape)
    const marked = fillShape(
      shape.parts,
      marks.map(({ text }) => text),
    )
    try {
      const { statement, root } = await admitStatement(engine, await functions(), marked, parameters)
      const canonical = root && learnShape(root, statement.canonical, marks)
      return canonical && statement.lambdaNames.length === 0
        ? { statement: { ...statement, shape: key }, canonical }
        : 'apart'
    } catch (error) {
      // Whatever is wrong with it is told of the statement itself.
      if (error instanceof ServiceError && error.code === 'invalid_argument') return 'apart'
      throw error
    }
  }

  return async (given, parameters) => {
    const key = JSON.stringify([given, parameters])
    let statement = texts.get(key)
    if (!statement) {
      const sql = trimStatement(given)
      const shape = shapeOf(sql)
      const isVaried = shape !== null && (shape.literals.length > 0 || Object.keys(parameters).length > 0)
      statement = isVaried ? await admitByShape(shape, sql, parameters) : await admitAlone(given, parameters)
      texts.put(key, statement, key.length + statement.canonical.length)
    }
    return statement
  }
}

function inShape(
  { statement, canonical }: Exclude<KnownShape, string>,
  { literals }: StatementShape,
  sql: string,
): AdmittedStatement {
  const ordered = canonical.order.map((n) => literals[n]?.text ?? '')
  return { ...statement, sql, canonical: fillShape(canonical.parts, ordered) }
}
