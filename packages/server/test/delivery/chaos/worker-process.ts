import { setTimeout } from 'node:timers/promises'
import { createDatabaseClock } from '../../../src/database/database-clock.ts'
import { createDeadLetterStore } from '../../../src/database/dead-letter-store.ts'
import { createLaneStore } from '../../../src/database/lane-store.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { createDeliveryWorker } from '../../../src/processes/delivery-worker.ts'
import { createAddressGuard } from '../../../src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../../src/webhooks/endpoint.ts'

/**
 * A delivery worker as a process of its own, to be killed:
 * `node worker-process.ts <control database> [<lease, ms> <deadline, ms>]`. A message `{jumpMs}` sets its wall clock.
 */
const [, , location = '', leaseMs = '15000', timeoutMs = '5000'] = process.argv
let jumpedMs = 0
const clock = { monotonic: systemClock.monotonic, now: () => systemClock.now() + jumpedMs }
const { db, dialect } = await openDatabase(location)
const laneClock = createDatabaseClock(db, clock)
const isEmbedded = dialect === 'sqlite'
const letters = createDeadLetterStore(db)
const worker = createDeliveryWorker(
  {
    lanes: createLaneStore(db),
    endpoint: createWebhookEndpoint(createAddressGuard({ allowedCidrs: ['127.0.0.0/8'] }), systemClock),
    clock: isEmbedded ? clock : laneClock,
    random: Math.random,
    sleep: (ms) => setTimeout(ms),
    leaseMs: Number(leaseMs),
    timeoutMs: Number(timeoutMs),
  },
  {
    owner: `process ${process.pid}`,
    concurrency: 16,
    hostConcurrency: 16,
    log: silentLogger,
    isSole: isEmbedded,
    ...(isEmbedded ? {} : { syncClock: laneClock.sync }),
  },
)
process.on('message', (message: { readonly jumpMs: number }) => {
  jumpedMs += message.jumpMs
})
process.on('SIGTERM', () => {
  void worker.stop().then(() => process.exit(0))
})
worker.start()
setInterval(() => {
  letters.redrive(1000, systemClock.now()).catch(() => undefined)
}, 1000).unref()
process.send?.('started')
