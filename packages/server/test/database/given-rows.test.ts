import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { givenRows, type GivenRow } from '../../src/database/given-rows.ts'
import { createStatement, type StandIns } from '../../src/database/statement.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

const TEXTS = [
  '',
  ' ',
  'plain',
  'null',
  'NULL',
  '"',
  '\\',
  '\\"',
  "'",
  'a,b',
  '{}',
  '{"a"}',
  '\n\t\r',
  '$1',
  '😀',
  'é',
]
const NUMBERS = [0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), 1e15]

describe.each(controlDatabases)('rows given with a statement on $name', ({ open }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await open()
  })
  afterEach(() => database.close())

  async function readBack(rows: readonly (readonly [number | null, string | null])[]) {
    const given = givenRows(database.db, { number: 'bigint', text: 'text' }, rows)
    const read = await sql<{ number: number | null; text: string | null }>`
      select number, text from ${given} as given`.execute(database.db)
    return read.rows.map(({ number, text }) => [number, text])
  }

  it('may be others each time that a statement runs, which is built once', async () => {
    let built = 0
    const read = createStatement(
      ({ rows, least }: StandIns<{ readonly rows: readonly GivenRow[]; readonly least: number }>, db) => {
        built += 1
        return sql<{ number: number }>`
          select number from ${givenRows(db, { number: 'bigint' }, rows)} as given
          where number >= ${least} order by number`.compile(db)
      },
    )
    for (const least of [1, 2, 3, 4]) {
      const values = { rows: [[least + 1], [least], [least - 1]], least }
      const expected = [{ number: least }, { number: least + 1 }]
      expect((await read(database.db, values)).rows).toEqual(expected)
      const inTransaction = await database.db.transaction().execute((tx) => read(tx, values))
      expect(inTransaction.rows).toEqual(expected)
    }
    expect(built).toBe(1)
  })

  it('are read as they were given, whatever a text holds', async () => {
    const rows = [
      ...TEXTS.map((text): [number, string] => [1, text]),
      ...NUMBERS.map((number): [number, string] => [number, 'text']),
      [null, null] as [null, null],
    ]
    expect(await readBack(rows)).toEqual(rows)
  })

  it('may be none', async () => {
    expect(await readBack([])).toEqual([])
  })
})
