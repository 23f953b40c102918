import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let receiver: Receiver

beforeAll(async () => {
  service = await startTestService()
  receiver = await startReceiver()
  await service.post('/projects', { owner: 'demo', name: 'erc20' })
})

afterAll(async () => {
  await receiver.close()
  await service.stop()
})

function exportLine(channel: string, block: number, data: string): string {
  return `{"type":"export","name":"large_transfer","channel":"${channel}","chain":"1","blockNumber":${block},"timestampMicros":${1_700_000_000_000_000 + block},"data":${data}}`
}

async function createChannel(channel: object): Promise<{ secret: string }> {
  const { status, body } = await service.post('/webhook/channels/demo/erc20', channel)
  expect(status).toBe(201)
  return body
}

async function ingest(...lines: readonly string[]) {
  return service.post('/ingest/demo/erc20/batch', lines.join('\n'), {
    'content-type': 'application/x-ndjson',
  })
}

describe('exports', () => {
  it('reach the receiver as arrays with the fields of the interface, data byte for byte (DL-1, DL-7)', async () => {
    const channel = await createChannel({
      name: 'exact',
      url: receiver.url,
      headers: { 'x-customer': 'c1' },
    })
    expect(channel.secret).toMatch(/^whsec_/)
    const data =
      '{"z":1.10,"2":"é\\u0000","1":115792089237316195423570985008687907853269984665640564039457584007913129639935}'
    expect(await ingest(exportLine('exact', 7, data), exportLine('exact', 8, '[]'))).toMatchObject({
      status: 200,
    })
    await receiver.received(1)
    const { text, headers } = receiver.calls.at(-1) ?? { text: '', headers: {} }
    expect(text).toContain(`"data":${data}}`)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-customer': 'c1',
      'webhook-id': expect.any(String),
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
      'webhook-signature': expect.stringMatching(/^v1,/),
    })
    const messages = JSON.parse(text) as Record<string, unknown>[]
    expect(messages.map((message) => Object.keys(message))).toEqual(
      Array.from({ length: 2 }, () => ['export_name', 'event_id', 'timestamp_micros', 'version', 'data']),
    )
    expect(messages[0]).toMatchObject({
      export_name: 'large_transfer',
      timestamp_micros: 1_700_000_000_000_007,
      version: 1,
    })
  })

  it('override what a reorganisation undid, under the same event id (IN-3, EV-1, DL-8)', async () => {
    await createChannel({ name: 'reorg', url: receiver.url })
    const before = receiver.calls.length
    await ingest(exportLine('reorg', 20, '"kept"'), exportLine('reorg', 21, '"undone"'))
    await receiver.received(before + 1)
    const pending = async () =>
      (await service.get('/webhook/channels/demo/erc20/reorg')).body.pendingMessages as number
    await expect.poll(pending).toBe(0)
    const rollback = await service.post('/ingest/demo/erc20/rollback', { chain: '1', block_number: 20 })
    expect(rollback).toMatchObject({ status: 200, body: { version: 1, withdrawnExports: 0 } })
    await ingest(exportLine('reorg', 21, '"instead"'))
    await receiver.received(before + 2)
    const [first, second] = receiver.calls.slice(before).map(({ text }) => JSON.parse(text))
    expect(first.map(({ data }: { data: string }) => data)).toEqual(['kept', 'undone'])
    expect(second).toEqual([{ ...first[1], data: 'instead' }])
  })

  it('become dead letters that can be pulled again and again (DL-5, DD-1, DD-2, DD-3)', async () => {
    const refusing = await startReceiver()
    refusing.answer = 500
    await createChannel({
      name: 'refusing',
      url: refusing.url,
      backoff: { initialMs: 100, capMs: 1000 },
      deadLetter: { ageMs: 0, attempts: 2 },
    })
    await ingest(exportLine('refusing', 30, '{"n":1}'))
    await refusing.received(2)
    const pull = async () => (await service.get('/webhook/deadletter/demo/erc20?limit=10')).body.messages
    await expect.poll(pull).toHaveLength(1)
    const [letter] = await pull()
    expect(letter).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      attributes: { channel_name: 'refusing' },
    })
    expect(Object.values(letter.attributes).every((value) => typeof value === 'string')).toBe(true)
    expect(JSON.parse(letter.data)).toMatchObject([{ export_name: 'large_transfer', data: { n: 1 } }])
    expect(await pull()).toEqual([letter])
    await refusing.close()
  })

  it.each(['0', '11', 'ten', '1.5'])('refuses to pull limit=%s (DD-1)', async (limit) => {
    const { status, body } = await service.get(`/webhook/deadletter/demo/erc20?limit=${limit}`)
    expect([status, body.message]).toEqual([400, expect.stringContaining('limit')])
  })

  it('may name a channel before it exists: it waits for an address, and a warning says so (IN-7)', async () => {
    const { body } = await ingest(exportLine('later', 40, '"waited"'))
    expect(body.warnings).toEqual([expect.stringContaining('later')])
    const before = receiver.calls.length
    const { body: channel } = await service.get('/webhook/channels/demo/erc20/later')
    expect(channel).toMatchObject({ status: 'unconfigured', pendingMessages: 1 })
    const changed = await fetch(`${service.url}/api/v1/webhook/channels/demo/erc20/later`, {
      method: 'PATCH',
      headers: { 'api-key': service.administratorKey },
      body: JSON.stringify({ url: receiver.url }),
    })
    expect(changed.status).toBe(200)
    await receiver.received(before + 1)
    expect(receiver.calls.at(-1)?.text).toContain('"waited"')
  })

  it('are delivered after a restart of the service, once (DL-6)', async () => {
    const slow = await startReceiver()
    slow.answer = 503
    await createChannel({
      name: 'slow',
      url: slow.url,
      backoff: { initialMs: 100, capMs: 1000 },
    })
    await ingest(exportLine('slow', 50, '"survives"'))
    await slow.received(1)
    await service.restart()
    slow.answer = 200
    const before = slow.calls.length
    await slow.received(before + 1)
    const pending = async () => (await service.get('/webhook/channels/demo/erc20/slow')).body.pendingMessages
    await expect.poll(pending).toBe(0)
    await slow.close()
  })
})
