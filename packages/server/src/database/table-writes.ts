/** What a statement reads and changes, whatever it is that makes it do so. */
export interface StatementTables {
  readonly reads: ReadonlySet<string>
  readonly changes: ReadonlySet<string>
}

/** Counts how often tables were changed, in a database that few but this process write to. */
export interface TableWrites {
  /** To be called before a statement is run. */
  note(statement: StatementTables): void
  /** Grows with every statement that changes a table which this one reads, and with every write of another connection. */
  countFor(sql: string): number
}

/** A counter; `describe` tells of a statement what it reads, `othersState` differs once another connection has written. */
export function createTableWrites(
  describe: (sql: string) => StatementTables,
  othersState: () => unknown,
): TableWrites {
  const counts = new Map<string, number>()
  let ofOthers = 0
  let stateThen = othersState()
  return {
    note: ({ changes }) => {
      for (const table of changes) counts.set(table, (counts.get(table) ?? 0) + 1)
    },
    countFor: (sql) => {
      const state = othersState()
      if (state !== stateThen) ofOthers += 1
      stateThen = state
      let count = ofOthers
      for (const table of describe(sql).reads) count += counts.get(table) ?? 0
      return count
    },
  }
}
