import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createProcessor, fileSpool, type Context, type ProcessorOptions } from '../src/index.ts'
import { startFakeServer } from './fake-server.ts'

let service: Awaited<ReturnType<typeof startFakeServer>>
let directory: string

beforeEach(async () => {
  service = await startFakeServer()
  directory = await mkdtemp(join(tmpdir(), 'millrace-spool-'))
})
afterEach(async () => {
  await service.stop()
  await rm(directory, { recursive: true })
})

const block = (number: number) => ({ chain: '1', number, time: new Date(1_700_000_000_000 + number * 1000) })
const count = (context: Context) => context.meter.Counter('n').add(1)
const processor = (options: Partial<ProcessorOptions> = {}) =>
  createProcessor({
    baseUrl: service.baseUrl,
    apiKey: 'mr_test',
    project: 'demo/erc20',
    maxBatchRecords: 1,
    retry: { initialMs: 1, maximumMs: 2 },
    spool: fileSpool(directory),
    ...options,
  })
/** What the service has answered with success, in order: the block of a batch, or `<block` of a rollback. */
const accepted = () => {
  const seen = new Set<string | null>()
  return service.requests.flatMap(({ url, body }, index): readonly (string | number)[] => {
    if (service.statuses[index] !== 200) return []
    if (url.pathname.endsWith('/rollback'))
      return [`<${(JSON.parse(body) as { blockNumber: number }).blockNumber}`]
    const id = url.searchParams.get('batchId')
    if (seen.has(id)) return ['again']
    seen.add(id)
    return [(JSON.parse(body.split('\n')[0] ?? '') as { blockNumber: number }).blockNumber]
  })
}

describe('the spool of a processor', () => {
  it('takes what the service is not there for, and delivers it in order, rollbacks included (IN-2, IN-3)', async () => {
    service.plan({ hangUp: true }, { status: 503 }, { hangUp: true }, { status: 429 })
    const sut = processor()
    for (const number of [1, 2, 3]) await sut.block(block(number), count)
    await sut.rollback('1', 2)
    await sut.block(block(3), count)
    await sut.flush()
    await sut.drain()
    expect(accepted()).toEqual([1, 2, 3, '<2', 3])
    expect(await readdir(directory)).toEqual([])
  })

  it('is delivered by the next process when this one ends', async () => {
    const lost = new AbortController()
    service.plan(...Array.from({ length: 500 }, () => ({ status: 503 })))
    const first = processor({ signal: lost.signal, retry: { initialMs: 60_000, maximumMs: 60_000 } })
    for (const number of [1, 2]) await first.block(block(number), count)
    await first.flush()
    expect((await readdir(directory)).length).toBe(2)
    lost.abort()
    service.planned.length = 0
    const second = processor()
    await second.block(block(3), count)
    await second.drain()
    expect(accepted()).toEqual([1, 2, 3])
    expect(await readdir(directory)).toEqual([])
  })

  it('holds no more than it may: beyond that the processor waits', async () => {
    service.plan(...Array.from({ length: 6 }, () => ({ status: 503 })))
    const sut = processor({ spool: fileSpool(directory, { maxBytes: 1 }) })
    for (const number of [1, 2, 3]) await sut.block(block(number), count)
    await sut.drain()
    expect(accepted()).toEqual([1, 2, 3])
  })

  it('keeps what is refused, and rejects from then on', async () => {
    service.plan({ status: 503 }, { status: 400, json: { code: 3, message: 'no such thing' } })
    const sut = processor()
    await sut.block(block(1), count)
    await expect(sut.drain()).rejects.toThrow('no such thing')
    await expect(sut.block(block(2), count).then(() => sut.flush())).rejects.toThrow('no such thing')
    expect((await readdir(directory)).length).toBe(1)
  })
})
