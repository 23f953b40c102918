import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { createChannelStore } from '../../../packages/server/src/database/channel-store.ts'
import { createDatabaseClock } from '../../../packages/server/src/database/database-clock.ts'
import { openDatabase, type ControlDatabase } from '../../../packages/server/src/database/database.ts'
import { createLaneStore } from '../../../packages/server/src/database/lane-store.ts'
import { enqueueExports } from '../../../packages/server/src/database/outbox.ts'
import { inTransaction } from '../../../packages/server/src/database/transaction.ts'
import { createWakeUp } from '../../../packages/server/src/database/wake-up.ts'
import { systemClock } from '../../../packages/server/src/platform/clock.ts'
import { silentLogger } from '../../../packages/server/src/platform/logger.ts'
import { createDeliveryWorker } from '../../../packages/server/src/processes/delivery-worker.ts'
import { createAddressGuard } from '../../../packages/server/src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../../packages/server/src/webhooks/endpoint.ts'
import { coalesce } from '../coalesce.ts'
import type { Contender, Feeder, Outgoing } from '../contender.ts'
import { SENT_AT_HEADER } from '../post.ts'
import { nowMs } from '../sink.ts'

const PROJECT_ID = 1

/** This service's own outbox and worker, on either database, with the settings it has by default. */
export const millrace = (server: 'none' | 'postgres'): Contender => ({
  name: server === 'none' ? 'millrace on SQLite' : 'millrace on PostgreSQL',
  server,
  packages: [],

  async open(location, urls) {
    const { db, close } = await openDatabase(location)
    const wakeUp = server === 'none' ? null : createWakeUp(location, silentLogger)
    const channels = createChannelStore(db)
    for (const [index, url] of urls.entries()) {
      await channels.create(
        PROJECT_ID,
        `channel ${index}`,
        { url, secret: 'whsec_bWlsbHJhY2UgYmVuY2htYXJrIHNlY3JldA==' },
        Date.now(),
      )
    }
    return {
      enqueue: createEnqueue(db, (laneIds) => wakeUp?.send(laneIds)),
      async statements() {
        if (server === 'none') return null
        const { rows } = await sql<{ calls: number }>`
          select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements`.execute(db)
        return rows[0]?.calls ?? 0
      },
      async close() {
        await wakeUp?.stop()
        await close()
      },
    }
  },

  async work(location) {
    const { db, dialect, close } = await openDatabase(location)
    const laneClock = createDatabaseClock(db, systemClock)
    const isEmbedded = dialect === 'sqlite'
    const endpoint = createWebhookEndpoint(createAddressGuard({ allowedCidrs: ['127.0.0.0/8'] }), systemClock)
    const worker = createDeliveryWorker(
      {
        lanes: createLaneStore(db),
        endpoint: {
          send: (delivery, options) =>
            endpoint.send(
              { ...delivery, headers: { ...delivery.headers, [SENT_AT_HEADER]: String(nowMs()) } },
              options,
            ),
        },
        clock: isEmbedded ? systemClock : laneClock,
        random: Math.random,
        sleep: (ms) => setTimeout(ms),
        leaseMs: 15_000,
        timeoutMs: 5000,
      },
      {
        owner: `process ${process.pid}`,
        concurrency: 256,
        hostConcurrency: 64,
        log: silentLogger,
        isSole: isEmbedded,
        ...(isEmbedded ? {} : { syncClock: laneClock.sync }),
      },
    )
    worker.start()
    const wakeUp = isEmbedded ? null : createWakeUp(location, silentLogger)
    wakeUp?.listen(worker.wake)
    return {
      enqueue: createEnqueue(db, worker.wake),
      async stop() {
        await worker.stop()
        await wakeUp?.stop()
        await endpoint.close()
        await close()
      },
    }
  },
})

/** As ingest does: what comes while a transaction runs goes together in the next one. */
function createEnqueue(db: ControlDatabase, wake: (laneIds: readonly number[]) => void): Feeder['enqueue'] {
  const store = coalesce(async (exports: readonly ReturnType<typeof exportOf>[]) => {
    const stored = inTransaction(db, (tx) =>
      enqueueExports(tx, { projectId: PROJECT_ID, version: 1 }, { messages: exports, heads: [] }, Date.now()),
    )
    wake((await stored).laneIds)
  })
  return (messages) => {
    // What is enqueued together is a block, as processors send it.
    const blockNumber = messages[0]?.n ?? 0
    return store(messages.map((message, position) => exportOf(message, blockNumber, position)))
  }
}

function exportOf({ channel, n, data }: Outgoing, blockNumber: number, position: number) {
  return {
    channel: `channel ${channel}`,
    exportName: 'transfer',
    chain: '1',
    blockNumber,
    position,
    timestampMicros: 1_700_000_000_000_000 + n,
    version: 1,
    data: Buffer.from(data),
  }
}
