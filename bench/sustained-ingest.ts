/**
 * `npm run bench:ingest`: sends samples at a steady pace and small batches meanwhile, takes back the newest 100 blocks, and sends the same
 * samples to VictoriaMetrics. See `--help`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { createApi, PROJECT } from './api.ts'
import { createLines, type Lines } from './ingest/lines.ts'
import { watchMemory } from './ingest/memory.ts'
import { PROBE_RECORDS, probeLines, startProbe } from './ingest/probe.ts'
import { createPost, sendSamples, type Sending, type Sent } from './ingest/sender.ts'
import { timeOnce, type Latency } from './latency.ts'
import { startPeer } from './metrics/peers.ts'
import { startService } from './service.ts'

const DEFAULTS = { samples: '10000000', batch: '10000', connections: '4', pace: '100000', rest: '0' } as const
const OUT = 'bench/results/ingest.json'
const BLOCKS_BACK = 100
const HOUR_MS = 3_600_000
const USAGE = `npm run bench:ingest -- [options]

  --samples N      default ${DEFAULTS.samples}
  --batch N        records of a request, default ${DEFAULTS.batch}
  --connections N  requests under way at once, default ${DEFAULTS.connections}
  --pace N         samples a second, default ${DEFAULTS.pace}; 0 sends as fast as answers come
  --rest N         seconds between the last sample and the rollbacks, default ${DEFAULTS.rest}
  --alone          leaves VictoriaMetrics away`

async function measureService(sending: Sending, lines: Lines, restSeconds: number) {
  const service = await startService()
  try {
    const api = createApi(service.url, service.key)
    const [owner, name] = PROJECT.split('/')
    await api.post('/projects', { owner, name })
    const headers = { 'api-key': service.key, 'content-type': 'application/x-ndjson' }
    const url = `${service.url}/api/v1/ingest/${PROJECT}`
    const post = createPost(url, headers)
    // The tables are made before anything is timed.
    await post('/batch', probeLines(lines.endMicros, 0))
    const memory = watchMemory(service.pid)
    const probe = startProbe({ url, headers, endMicros: lines.endMicros })
    const sent = await sendSamples(
      sending,
      (first, count) => post(`/batch?batchId=${first}`, lines.records(first, count)),
      showProgress('samples stored', sending.samples),
    )
    const accept = await probe.stop()
    await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000))
    const rollbackMs: number[] = []
    for (const depth of [1, 2, 3].map((times) => times * BLOCKS_BACK)) {
      const blockNumber = lines.blockOf(sending.samples - 1) - depth
      rollbackMs.push(
        await timeOnce(() => api.post(`/ingest/${PROJECT}/rollback`, { chain: '1', blockNumber })),
      )
    }
    return { ...sent, accept, rollbackMs, ...memory.stop() }
  } finally {
    await service.stop()
  }
}

async function measureVictoriaMetrics(sending: Sending, lines: Lines): Promise<Sent> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-peer-'))
  try {
    const peer = await startPeer('VictoriaMetrics', join(directory, 'data'))
    try {
      const post = createPost(peer.url)
      return await sendSamples(
        sending,
        (first, count) => post('/api/v1/import', lines.imports(first, count)),
        showProgress('samples imported', sending.samples),
      )
    } finally {
      await peer.stop()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function showProgress(what: string, total: number): (sent: number) => void {
  let shownAt = performance.now()
  return (sent) => {
    if (performance.now() - shownAt < 5000) return
    shownAt = performance.now()
    process.stderr.write(`${what}: ${sent} of ${total} …\n`)
  }
}

function showLatency({ medianMs, p99Ms, maxMs, count }: Latency): string {
  return `median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms, of ${count}`
}

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    samples: { ...text, default: DEFAULTS.samples },
    batch: { ...text, default: DEFAULTS.batch },
    connections: { ...text, default: DEFAULTS.connections },
    pace: { ...text, default: DEFAULTS.pace },
    rest: { ...text, default: DEFAULTS.rest },
    alone: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (values.help) process.stdout.write(`${USAGE}\n`)
else {
  const sending: Sending = {
    samples: Number(values.samples),
    batch: Number(values.batch),
    connections: Number(values.connections),
    pace: Number(values.pace),
  }
  const lines = createLines(sending.samples, Math.floor(Date.now() / HOUR_MS) * HOUR_MS)
  const own = await measureService(sending, lines, Number(values.rest))
  process.stdout.write(
    `${Math.round(own.perSecond)} samples a second, ${sending.samples} in all
a batch of ${sending.batch}: ${showLatency(own.latency)}
a batch of ${PROBE_RECORDS} meanwhile: ${showLatency(own.accept)}
memory: service ${own.serviceMegabytes} MB, engine ${own.engineMegabytes} MB
rollbacks of ${BLOCKS_BACK} blocks: ${own.rollbackMs.map((ms) => `${Math.round(ms)} ms`).join(', ')}\n`,
  )
  const peer = values.alone ? null : await measureVictoriaMetrics({ ...sending, pace: 0 }, lines)
  if (peer) {
    const ratio = own.perSecond / peer.perSecond
    process.stdout.write(
      `VictoriaMetrics, as fast as it answers: ${Math.round(peer.perSecond)} samples a second; we take ${(100 * ratio).toFixed(0)} % of that\n`,
    )
  }
  mkdirSync(dirname(OUT), { recursive: true })
  writeFileSync(OUT, `${JSON.stringify({ sending, own, peer }, null, 2)}\n`)
}
