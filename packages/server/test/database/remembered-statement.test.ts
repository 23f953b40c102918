import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import {
  createRememberedStatement,
  type RememberedStatement,
  type StandIns,
} from '../../src/database/statement.ts'
import { createTestProject } from '../ingest/instance.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

interface Owner {
  readonly project: number
}

describe.each(controlDatabases)('a remembered statement on $name', ({ name, open }) => {
  let database: TestDatabase
  let project: number
  let heightsOf: RememberedStatement<Owner, { readonly chain: string; readonly height: number }>
  beforeEach(async () => {
    database = await open()
    project = (await createTestProject(database)).id
    await setHeight(1)
    heightsOf = createRememberedStatement(database.db, (owner: StandIns<Owner>) =>
      database.db
        .selectFrom('data_height')
        .select(['chain', 'height'])
        .where('project_id', '=', owner.project)
        .compile(),
    )
  })
  afterEach(() => database.close())

  async function setHeight(height: number, db: Pick<TestDatabase['db'], 'insertInto'> = database.db) {
    await db
      .insertInto('data_height')
      .values({ project_id: project, version: 1, chain: '1', height })
      .onConflict((conflict) => conflict.columns(['project_id', 'version', 'chain']).doUpdateSet({ height }))
      .execute()
  }
  const ask = () => heightsOf({ project })

  it('answers what is there after every write to its table, in a transaction or not, undone or not', async () => {
    expect(await ask()).toEqual([{ chain: '1', height: 1 }])
    await setHeight(2)
    expect(await ask()).toEqual([{ chain: '1', height: 2 }])
    await database.db.transaction().execute((tx) => setHeight(3, tx))
    expect(await ask()).toEqual([{ chain: '1', height: 3 }])
    const undone = database.db.transaction().execute(async (tx) => {
      await setHeight(4, tx)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await ask()).toEqual([{ chain: '1', height: 3 }])
    expect(await heightsOf({ project: project + 1 })).toEqual([])
  })

  it('answers what is there after a row went with the row that it belongs to', async () => {
    expect(await ask()).toHaveLength(1)
    await database.db.deleteFrom('project').where('id', '=', project).execute()
    expect(await ask()).toEqual([])
  })

  it('answers what another connection has written', async () => {
    expect(await ask()).toEqual([{ chain: '1', height: 1 }])
    const other = await openDatabase(database.location)
    await setHeight(7, other.db)
    await other.close()
    expect(await ask()).toEqual([{ chain: '1', height: 7 }])
  })

  it('is sent again where others may have written, and else only after a write to its table', async () => {
    const first = await ask()
    await database.db.updateTable('project').set({ is_public: 1 }).where('id', '=', project).execute()
    const isSame = (await ask()) === first
    expect(isSame).toBe(name === 'sqlite')
    await setHeight(1)
    expect(await ask()).not.toBe(first)
  })
})
