import { ValueNode, type CompiledQuery, type Expression, type OperationNode, type QueryResult } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { embeddedAdapterOf } from './sqlite-adapter.ts'

/** Stands in a statement for a value until it is given, with what is to be made of it. */
export class StandIn<T> implements Expression<T> {
  readonly valueIn: (given: object) => T

  constructor(valueIn: (given: object) => T) {
    this.valueIn = valueIn
  }

  /** Stands for what `make` makes of the value. */
  map<U>(make: (value: T) => U): StandIn<U> {
    return new StandIn((given) => make(this.valueIn(given)))
  }

  get expressionType(): T | undefined {
    return undefined
  }

  toOperationNode(): OperationNode {
    return ValueNode.create(this)
  }
}

/** What will be given, by name. */
export type StandIns<Given> = { readonly [Name in keyof Given]: StandIn<Given[Name]> }

/** A value that a statement is built with, or what stands for it. */
export type Given<T> = T | StandIn<T>

/** Makes a statement as it is sent. */
type Build<Values, Row> = (
  given: StandIns<Values>,
  db: ControlDatabase | ControlTransaction,
) => CompiledQuery<Row>

/** Runs a statement with its parameters, on a database, one connection or in a transaction. */
export type Statement<Values, Row> = (
  db: ControlDatabase | ControlTransaction,
  values: Values,
) => Promise<QueryResult<Row>>

/**
 * Builds a statement once for each database and runs it again and again: building one anew costs more than SQLite takes to answer it. `build`
 * gets stand-ins for what will be given and may put them where the statement takes values.
 */
export function createStatement<Values extends object, Row>(
  build: Build<Values, Row>,
): Statement<Values, Row> {
  const compile = buildOnce(build)
  return (db, values) => db.executeQuery(compile(db, values))
}

/** Runs a statement with its parameters; resolves with all rows. */
export type RememberedStatement<Values, Row> = (values: Values) => Promise<readonly Row[]>

/** Answers kept of one statement. */
const KNOWN_MAX = 1000

/**
 * The same of one database, and the answer is remembered as long as nothing has written to a table that it was read from; where other
 * processes write too, it is asked for each time. Rows are shared, and must not be changed.
 */
export function createRememberedStatement<Values extends object, Row>(
  db: ControlDatabase,
  build: Build<Values, Row>,
): RememberedStatement<Values, Row> {
  const compile = buildOnce(build)
  const writes = embeddedAdapterOf(db)?.writes
  if (!writes) return async (values) => (await db.executeQuery(compile(db, values))).rows
  const known = new Map<string, Promise<readonly Row[]>>()
  let countThen = Number.NaN
  return (values) => {
    const query = compile(db, values)
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

function buildOnce<Values extends object, Row>(build: Build<Values, Row>) {
  const standIns = new Proxy(
    {},
    { get: (_, name) => new StandIn((values) => values[name as keyof typeof values]) },
  ) as StandIns<Values>
  const built = new WeakMap<object, CompiledQuery<Row>>()
  return (db: ControlDatabase | ControlTransaction, values: Values): CompiledQuery<Row> => {
    const { adapter } = db.getExecutor()
    const query = built.get(adapter) ?? build(standIns, db)
    built.set(adapter, query)
    const parameters = query.parameters.map((each) => (each instanceof StandIn ? each.valueIn(values) : each))
    return { ...query, parameters }
  }
}
