import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT, type Api } from '../api.ts'
import { summarise } from '../latency.ts'
import { createRawClient } from '../raw-client.ts'
import type { Result } from './rounds.ts'
import { askMillrace } from './systems.ts'

const SAMPLES_PER_SECOND = 10_000
const BATCH = 1000
const SECONDS = 6
const SERIES = 100

/**
 * Statements over a metric that is being written to: the same one again and again, which comes from the cache, and ones that nobody asked before, which
 * wait for batches that are being stored.
 */
export async function sqlUnderIngest(api: Api, url: string, key: string): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const isWritten of [false, true]) {
    const ingest = new AbortController()
    const writing = isWritten ? write(api, ingest.signal) : Promise.resolve(0)
    const asked = [await ask(url, key, isWritten, () => 0), await ask(url, key, isWritten, (n) => n + 1)]
    ingest.abort()
    const written = await writing
    for (const [index, result] of asked.entries()) {
      const rate = isWritten ? `, ${Math.round(written / (2 * SECONDS))} samples/s come in` : ''
      const what = `SQL, ${index === 0 ? 'the same statement' : 'new statements'}${rate}`
      results.push({ ...result, what })
    }
  }
  return results
}

async function ask(
  url: string,
  key: string,
  isWritten: boolean,
  variantOf: (n: number) => number,
): Promise<Omit<Result, 'what'>> {
  const client = createRawClient(url)
  const durations: number[] = []
  let bytes = 0
  const startedAt = performance.now()
  for (let n = 0; performance.now() - startedAt < SECONDS * 1000; n += 1) {
    const sql = `select count() as n, ${variantOf(n)} as variant, ${isWritten} as is_written from load where value > 50`
    const request = askMillrace(key, { sqlQuery: { sql } }, `analytics/${PROJECT}/sql/execute`)
    const askedAt = performance.now()
    bytes = await client.ask(request)
    durations.push(performance.now() - askedAt)
  }
  client.close()
  const perSecond = (durations.length / (performance.now() - startedAt)) * 1000
  return { system: 'Millrace', perSecond, latency: summarise(durations), bytes }
}

/** Sends batches at the rate wished for, until told to stop; resolves with the number of samples. */
async function write(api: Api, signal: AbortSignal): Promise<number> {
  const startedAt = performance.now()
  let written = 0
  while (!signal.aborted) {
    const timestampMicros = Date.now() * 1000
    const records = Array.from({ length: BATCH }, (_, i) =>
      JSON.stringify({
        type: 'gauge',
        name: 'load',
        value: i % 100,
        labels: { series: String(i % SERIES) },
        chain: '1',
        blockNumber: Math.floor(timestampMicros / 12e6),
        timestampMicros: timestampMicros + i,
      }),
    )
    await api.postLines(`/ingest/${PROJECT}/batch`, records.join('\n'))
    written += BATCH
    const aheadMs = (written / SAMPLES_PER_SECOND) * 1000 - (performance.now() - startedAt)
    if (aheadMs > 0) await sleep(aheadMs)
  }
  return written
}
