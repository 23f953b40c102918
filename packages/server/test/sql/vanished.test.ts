import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Analytics } from '../../src/analytics/analytics.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { buildSqlApp, createSqlFixture, fillProject, sqlProject } from './sql-fixture.ts'

const project = sqlProject(951)
let test: TestEngine
let database: TestDatabase
let app: FastifyInstance
let analytics: Analytics

beforeAll(async () => {
  test = await startTestEngine({ poolSize: 4 })
  database = await openSqlite()
  await fillProject(test.engine, project)
  ;({ analytics } = await createSqlFixture(test.engine, database, project, {
    clock: systemClock,
    limits: { rowsReadMax: 100_000_000_000 },
  }))
  app = await buildSqlApp(analytics, project)
  await app.listen({ port: 0, host: '127.0.0.1' })
})

afterAll(async () => {
  await app.close()
  await database.close()
  await test.stop()
})

const HEAVY = 'select sum(sipHash64(number)) as MARK from numbers(4000000000)'
const LONG = 'select number as MARK from numbers(4000000000)'

/** How many statements with the mark the engine has run for that long; the text of this one has it in two pieces. */
async function runningCount(mark: string, elapsedSeconds = 0): Promise<number> {
  const rows = await test.engine.rows(
    `select 1 from system.processes where elapsed >= ${elapsedSeconds}
       and position(query, concat('${mark.slice(0, 5)}', '${mark.slice(5)}')) > 0`,
  )
  return rows.length
}

/** Sends a statement and resolves, when the engine is at work on it, with how to hang up. */
async function send(search: string, sql: string, mark: string): Promise<() => void> {
  const body = JSON.stringify({ sqlQuery: { sql } })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  socket.write(
    `POST /api/v1/analytics/demo/p951/sql/execute${search} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  while ((await runningCount(mark, 0.2)) === 0);
  return () => socket.destroy()
}

it.each([
  ['a page', '', HEAVY],
  ['a page, in a scalar sub-query', '', `select (${HEAVY}) as n`],
  ['a page, in a sort', '', `select * from (${LONG}) order by sipHash64(MARK) limit 5`],
  ['CSV', '?format=csv', HEAVY],
  ['NDJSON that it does not read', '?format=ndjson', LONG],
  ['Arrow that it does not read', '?format=arrow', LONG],
  ['Parquet', '?format=parquet', HEAVY],
])(
  'ends the statement of a caller who goes away while it waits for %s, before a second is over (SQ-7)',
  { timeout: 30_000 },
  async (what, search, text) => {
    const mark = `vanishing_${what.replaceAll(/\W/g, '_')}`
    const hangUp = await send(search, text.replaceAll('MARK', mark), mark)
    // The engine itself measures the second, however busy the machine is.
    const witness = test.engine.rows('select sleep(1)').then(() => 'a second is over')
    hangUp()
    const end = (async () => {
      while ((await runningCount(mark)) > 0);
      return 'the statement is gone'
    })()
    expect(await Promise.race([end, witness])).toBe('the statement is gone')
    await Promise.all([end, witness])
  },
)

it('tells who waits for a statement when the service stops that it may be sent again (SQ-7)', async () => {
  const answer = app.inject({
    method: 'POST',
    url: '/api/v1/analytics/demo/p951/sql/execute',
    payload: { sqlQuery: { sql: HEAVY.replaceAll('MARK', 'vanishing_service') } },
  })
  while ((await runningCount('vanishing_service', 0.2)) === 0);
  await analytics.stop()
  const told = await answer
  expect([told.statusCode, told.headers['retry-after'], told.json()]).toEqual([
    503,
    '5',
    { code: 14, message: 'the service stops; run the statement again', details: [] },
  ])
})
