import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startInstance, userRows } from './instance.ts'

const place = { chain: '1', timestampMicros: 1_700_000_000_000_000 }

describe.each(controlDatabases)('two instances on one engine and $name', ({ open }) => {
  let facts: TestEngine
  let database: TestDatabase

  beforeAll(async () => {
    facts = await startTestEngine()
    database = await open()
  })

  afterAll(async () => {
    await database.close()
    await facts.stop()
  })

  const startTwo = () =>
    [0, 1].map(() => startInstance({ engine: facts.engine, database, isSoleInstance: false }))

  it('make metrics, event logs and attributes at the same time, and lose none', async () => {
    const project = await createTestProject(database)
    await Promise.all(
      startTwo().map(async (ingest, instance) => {
        for (let i = 0; i < 6; i++) {
          await ingest.accept(
            project,
            jsonBatch([
              { type: 'counter', name: `m${i}`, value: 1, ...place },
              {
                type: 'event',
                name: `E${i % 2}`,
                attributes: { [`a${instance}_${i}`]: i, both: 'x' },
                ...place,
              },
            ]),
          )
        }
      }),
    )
    const columns = await facts.engine.rows<{ table: string; name: string }>(
      `select table, name from system.columns where database = 'millrace_p${project.id}_v1' and match(name, '^(a[01]_|both)') order by table, name`,
    )
    const names = (table: string) =>
      columns.filter((column) => column.table === table).map(({ name }) => name)
    expect(names('E0')).toEqual(['a0_0', 'a0_2', 'a0_4', 'a1_0', 'a1_2', 'a1_4', 'both'])
    expect(names('E1')).toEqual(['a0_1', 'a0_3', 'a0_5', 'a1_1', 'a1_3', 'a1_5', 'both'])
    expect(await userRows(facts.engine, project, 'select sum(value) as s from m5')).toEqual([{ s: 2 }])
    expect(await userRows(facts.engine, project, 'select count() as n, sum(a1_4) as s from E0')).toEqual([
      { n: '6', s: 4 },
    ])
  })

  it('agree on the type of a metric that one makes as a counter and the other as a gauge (MQ-3)', async () => {
    const project = await createTestProject(database)
    let looked = 0
    const bothLooked = Promise.withResolvers<undefined>()
    const engine = {
      ...facts.engine,
      rows: async <Row>(...given: Parameters<TestEngine['engine']['rows']>) => {
        const rows = await facts.engine.rows<Row>(...given)
        if (given[1]?.parameters?.['names'] !== undefined) {
          looked++
          if (looked === 2) bothLooked.resolve(undefined)
          await bothLooked.promise
        }
        return rows
      },
    }
    const types = ['counter', 'gauge'] as const
    const answers = await Promise.allSettled(
      types.map((type) =>
        startInstance({ engine, database, isSoleInstance: false }).accept(
          project,
          jsonBatch([{ type, name: 'torn', value: 1, ...place }]),
        ),
      ),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const winner = types[answers.findIndex(({ status }) => status === 'fulfilled')]
    const loser = types.find((type) => type !== winner)
    const refused = answers.find((answer) => answer.status === 'rejected')
    expect(String(refused?.reason)).toContain(`the metric torn is a ${winner}; it cannot be a ${loser} too`)
    const stored = await facts.engine.rows(`select type from series where metric = 'torn'`, {
      database: `millrace_p${project.id}_v1_facts`,
    })
    expect(stored).toEqual([{ type: winner }])
  })

  it('store a batch that both were sent once (IN-2)', async () => {
    const project = await createTestProject(database)
    const batch = jsonBatch([{ type: 'counter', name: 'once', value: 1, ...place }], 'b')
    const [one, other] = startTwo()
    const answers = await Promise.allSettled([one?.accept(project, batch), other?.accept(project, batch)])
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await other?.accept(project, batch)).toMatchObject({ isRepeated: true })
    expect(await userRows(facts.engine, project, 'select sum(value) as s from once')).toEqual([{ s: 1 }])
  })
})
