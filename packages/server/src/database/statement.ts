import type { CompiledQuery } from 'kysely'
import type { ControlDatabase } from './database.ts'
import { embeddedAdapterOf } from './sqlite-adapter.ts'

/** Runs a statement with its parameters; resolves with all rows. */
export type Statement<Given, Row> = (given: Given) => Promise<readonly Row[]>

/** Stands for a parameter until it is given. */
class Parameter {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Makes a statement as it is sent. */
type Build<Given, Row> = (given: Given) => CompiledQuery<Row>

/**
 * Builds a statement once and runs it again and again: building one anew costs more than SQLite takes to answer it. `build` gets stand-ins
 * for what will be given and may put them where the statement takes values, nowhere else; its text must not depend on them.
 */
export function createStatement<Given extends object, Row>(
  db: ControlDatabase,
  build: Build<Given, Row>,
): Statement<Given, Row> {
  const compile = buildOnce(build)
  return async (given) => (await db.executeQuery(compile(given))).rows
}

/** Answers kept of one statement. */
const KNOWN_MAX = 1000

/**
 * The same, and the answer is remembered as long as nothing has written to a table that it was read from; where other processes write too, it
 * is asked for each time. Rows are shared, and must not be changed.
 */
export function createRememberedStatement<Given extends object, Row>(
  db: ControlDatabase,
  build: Build<Given, Row>,
): Statement<Given, Row> {
  const writes = embeddedAdapterOf(db)?.writes
  if (!writes) return createStatement(db, build)
  const compile = buildOnce(build)
  const known = new Map<string, Promise<readonly Row[]>>()
  let countThen = Number.NaN
  return (given) => {
    const query = compile(given)
    // Counted before the answer is read: what is written meanwhile makes it be read again.
    const count = writes.countFor(query.sql)
    if (count !== countThen || known.size >= KNOWN_MAX) known.clear()
    countThen = count
    const key = JSON.stringify(query.parameters)
    const remembered = known.get(key)
    if (remembered) return remembered
    const rows = db.executeQuery(query).then((result) => result.rows)
    known.set(key, rows)
    rows.catch(() => known.delete(key))
    return rows
  }
}

function buildOnce<Given extends object, Row>(build: Build<Given, Row>): Build<Given, Row> {
  let built: CompiledQuery<Row> | null = null
  const standIns = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
  return (given) => {
    built ??= build(standIns as Given)
    const parameters = built.parameters.map((each) =>
      each instanceof Parameter ? given[each.name as keyof Given] : each,
    )
    return { ...built, parameters }
  }
}
