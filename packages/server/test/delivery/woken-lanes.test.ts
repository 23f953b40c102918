import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBatchStore } from '../../src/database/batch-store.ts'
import { enqueueExports, withdrawExports } from '../../src/database/outbox.ts'
import type { ExportedMessage } from '../../src/delivery/message.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createTestProject } from '../ingest/instance.ts'
import { exported } from './bench.ts'
import { createChannelStore } from '../../src/database/channel-store.ts'

describe.each(controlDatabases)('lanes that are named when a batch is stored, on $name', ({ open }) => {
  let database: TestDatabase

  beforeEach(async () => {
    database = await open()
  })
  afterEach(() => database.close())

  it('are those of its exports, and those in which messages were confirmed by it (DL-7, DL-13)', async () => {
    const { db } = database
    const { id: projectId } = await createTestProject(database)
    const channels = createChannelStore(db)
    for (const [name, confirmations] of [
      ['now', 0],
      ['later', 2],
      ['other', 0],
    ] as const) {
      const settings = { url: 'https://receiver.example/', secret: 'whsec_AAAA', confirmations }
      await channels.create(projectId, name, settings, 0)
    }
    const idOf = async (name: string) => (await channels.find(projectId, name))?.id
    const onEnqueued = vi.fn<(laneIds: readonly number[]) => void>()
    const batches = createBatchStore(db, { enqueueExports, withdrawExports }, { onEnqueued })
    const version = { projectId, version: 1 }
    let count = 0
    async function store(exports: readonly ExportedMessage[], headBlock: number): Promise<void> {
      const batch = { batchId: `batch ${count++}`, contentHash: '', tables: [] }
      const [start] = await batches.begin(version, [batch], { owner: 'instance', until: 1 })
      if (start?.state !== 'open') throw new Error('not begun')
      const heads = [{ chain: '1', blockNumber: headBlock }]
      const finished = { sequence: start.sequence, accepted: 1, warnings: [], exports }
      await batches.finish(version, [finished], { days: [], heads }, 0)
    }

    await store([exported(1, { channel: 'now', blockNumber: 5 })], 5)
    expect(onEnqueued.mock.lastCall?.[0]).toContain(await idOf('now'))
    expect(onEnqueued.mock.lastCall?.[0]).not.toContain(await idOf('other'))
    await store([exported(2, { channel: 'later', blockNumber: 6 })], 6)
    await store([], 8)
    expect(onEnqueued.mock.lastCall?.[0]).toEqual([await idOf('later')])
  })
})
