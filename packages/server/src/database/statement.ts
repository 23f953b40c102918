import type { CompiledQuery } from 'kysely'
import type { ControlDatabase } from './database.ts'

/** Runs a statement with its parameters; resolves with all rows. */
export type Statement<Given, Row> = (given: Given) => Promise<readonly Row[]>

/** Stands for a parameter until it is given. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Builds a statement once and runs it again and again: building one anew costs more than SQLite takes to answer it. `build` gets stand-ins
 * for what will be given and may put them where the statement takes values, nowhere else; its text must not depend on them.
 */
export function createStatement<Given extends object, Row>(
  db: ControlDatabase,
  build: (given: Given) => CompiledQuery<Row>,
): Statement<Given, Row> {
  let built: CompiledQuery<Row> | null = null
  const standIns = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
  return async (given) => {
    built ??= build(standIns as Given)
    const parameters = built.parameters.map((each) =>
      each instanceof Parameter ? given[each.name as keyof Given] : each,
    )
    const { rows } = await db.executeQuery<Row>({ ...built, parameters })
    return rows
  }
}
