import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/delivery/channel.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, PROJECT_ID, refused, type Bench } from './bench.ts'

describe.each(controlDatabases)('dead letters of blocks that are rolled back, on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
    await bench.configure('alerts', { ...DEFAULT_LIMITS, deadLetter: { ageMs: 0, attempts: 1 } })
    bench.endpoint.answer = () => refused(500)
    await bench.enqueue(
      exported('kept', { data: Buffer.from('"kept"'), blockNumber: 99, position: 0 }),
      exported('undone', { data: Buffer.from('"undone"'), blockNumber: 100, position: 0 }),
    )
    await bench.work()
    bench.clock.advance(10_000)
    bench.endpoint.answer = () => ACKNOWLEDGED
  })
  afterEach(() => database.close())

  const data = () => bench.endpoint.acknowledged.map((message) => message.data)

  it('are neither pulled nor sent again (IN-3, DL-8, DD-4)', async () => {
    await bench.withdraw({ aboveBlock: 99 })
    const [letter] = await bench.pull()
    expect(letter?.bodies.map((body) => Buffer.from(body).toString())).toEqual([
      expect.stringContaining('"data":"kept"'),
    ])
    await bench.letters.requestRedrive(PROJECT_ID, { ids: null, channel: null }, bench.clock.now())
    await bench.letters.redrive(1000, bench.clock.now())
    await bench.work()
    expect(data()).toEqual(['kept'])
  })

  it('are delivered when the block is processed again, unchanged or not (IN-3, DL-6)', async () => {
    await bench.withdraw({ aboveBlock: 99 })
    await bench.enqueue(exported('undone', { data: Buffer.from('"undone"'), blockNumber: 100, position: 0 }))
    await bench.work()
    expect(data()).toEqual(['undone'])
  })
})
