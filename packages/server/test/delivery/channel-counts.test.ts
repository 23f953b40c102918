import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countChannels } from '../../src/database/channel-counts.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, refused, type Bench } from './bench.ts'

describe.each(controlDatabases)('the metric of channels that do not deliver, on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(() => database.close())

  it('counts those that fail, are disabled or paused, each once, and names the oldest failure (DL-12)', async () => {
    const failsAt = bench.clock.now()
    for (const channel of ['failing', 'gone', 'fine', 'stopped']) {
      const id = await bench.configure(channel)
      await bench.enqueue(exported(channel, { channel, data: Buffer.from(JSON.stringify(channel)) }))
      if (channel === 'stopped') await bench.channels.change(id, { isPaused: true }, 'whsec_AAAA', failsAt)
    }
    bench.endpoint.answer = ([message]) =>
      ({ failing: refused(500), gone: refused(410) })[String(message?.data)] ?? ACKNOWLEDGED
    await bench.work()
    expect(await countChannels(database.db)).toEqual({
      failing: 1,
      disabled: 1,
      paused: 1,
      failingSinceAt: failsAt,
    })
    bench.endpoint.answer = () => ACKNOWLEDGED
    bench.clock.advance(5000)
    await bench.work()
    expect(await countChannels(database.db)).toMatchObject({ failing: 0, failingSinceAt: null })
  })
})
