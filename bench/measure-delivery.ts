import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT } from './api.ts'
import { messageBatches } from './data-set.ts'
import { load } from './load.ts'
import type { Measurement } from './measurement.ts'
import { startReceiver } from './receive.ts'

const PATIENCE_MS = 60_000

/** Exports to one channel, from the first ingest request to the last acknowledged message; batches of up to 100. */
export const measureDelivery: Measurement = async (bench) => {
  const { api, options, endAt, progress } = bench
  if (options.messages === 0) return []
  const receiver = await startReceiver()
  try {
    await api.post(`/webhook/channels/${PROJECT}`, { name: 'bench', url: receiver.url })
    const startedAt = performance.now()
    const ingest = await load(
      bench,
      'ingest exports',
      'exports',
      options.messages,
      messageBatches(options, endAt),
    )
    let lastProgressAt = performance.now()
    for (let before = -1; receiver.received() < options.messages;) {
      if (receiver.received() > before) lastProgressAt = performance.now()
      else if (performance.now() - lastProgressAt > PATIENCE_MS) {
        throw new Error(`only ${receiver.received()} of ${options.messages} messages came`)
      }
      before = receiver.received()
      progress(`delivery: ${before} of ${options.messages} messages`)
      await sleep(20)
    }
    const seconds = (performance.now() - startedAt) / 1000
    const repeated = receiver.messages() - options.messages
    return [
      ingest,
      {
        name: `delivery to one channel, ${receiver.calls()} calls, ${repeated} messages repeated`,
        perSecond: options.messages / seconds,
        unit: 'messages',
      },
    ]
  } finally {
    await receiver.close()
  }
}
