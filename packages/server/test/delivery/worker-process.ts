import { setTimeout } from 'node:timers/promises'
import { createLaneStore } from '../../src/database/lane-store.ts'
import { openDatabase } from '../../src/database/database.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createDeliveryWorker } from '../../src/processes/delivery-worker.ts'
import { createAddressGuard } from '../../src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../src/webhooks/endpoint.ts'

/** A delivery worker as a process of its own, to be killed: `node worker-process.ts <control database>`. */
const { db } = await openDatabase(process.argv[2] ?? '')
const worker = createDeliveryWorker(
  {
    lanes: createLaneStore(db),
    endpoint: createWebhookEndpoint(createAddressGuard({ allowedCidrs: ['127.0.0.0/8'] }), systemClock),
    clock: systemClock,
    random: Math.random,
    sleep: (ms) => setTimeout(ms),
    leaseMs: 15_000,
    timeoutMs: 5000,
  },
  { owner: `process ${process.pid}`, concurrency: 16, hostConcurrency: 16, log: silentLogger },
)
process.on('SIGTERM', () => {
  void worker.stop().then(() => process.exit(0))
})
worker.start()
