import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlDatabases, type EmptyPlace } from '../support/databases.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

const MAX_BYTES = 5 * 1024 * 1024

/** What a processor may pass as `data`, as the bytes of JSON that it writes. */
const EXACT: readonly (readonly [string, string])[] = [
  ['keys in an order that no engine would choose, integers last', '{"z":1,"a":2,"10":3,"9":4,"__proto__":5}'],
  ['a key that occurs twice', '{"a":1,"a":2}'],
  ['2^53 - 1', '9007199254740991'],
  ['2^53', '9007199254740992'],
  ['2^53 + 1', '9007199254740993'],
  ['-(2^53 + 1)', '-9007199254740993'],
  ['2^256 - 1', String(2n ** 256n - 1n)],
  ['a decimal of 78 digits', `{"wei":0.${'7'.repeat(78)}}`],
  ['numbers as they are written', '[1.10,1e3,1E+3,-0,-0.0,0.1e-7]'],
  ['a NUL', '"a\\u0000b"'],
  ['an emoji, spelled and escaped', '["😀","\\ud83d\\ude00"]'],
  ['half of a surrogate pair', '"\\ud800"'],
  ['escapes that need not be', '"\\u0061\\/\\t"'],
  ['white space', '{ "a" :\t[ 1 ,2 ] }'],
  ['one byte', '7'],
  ['nothing', 'null'],
  ['the largest message', `"${'x'.repeat(MAX_BYTES - 2)}"`],
]

function exportLine(channel: string, data: string): string {
  return `{"type":"export","name":"e","channel":"${channel}","chain":"1","blockNumber":1,"timestampMicros":1,"data":${data}}`
}

describe.each(controlDatabases)('the bytes of a message, on $name', ({ name: dialect, makePlace }) => {
  let place: EmptyPlace
  let service: TestService
  let receiver: Receiver

  beforeAll(async () => {
    place = await makePlace()
    service = await startTestService(dialect === 'postgres' ? { databaseUrl: place.location } : {})
    receiver = await startReceiver()
    await service.post('/projects', { owner: 'test', name: 'exact' })
  })
  afterAll(async () => {
    await receiver.close()
    await service.stop()
    await place.remove()
  })

  const ingest = (line: string) =>
    service.post('/ingest/test/exact/batch', line, { 'content-type': 'application/x-ndjson' })

  it.each(EXACT.map(([what, data], index) => [what, data, `channel ${index}`] as const))(
    'are the same on the wire, in the dead letter and after a redrive: %s (DL-1, DD-3, DD-4)',
    async (_what, data, name) => {
      receiver.answer = 500
      const before = receiver.calls.length
      await service.post('/webhook/channels/test/exact', {
        name,
        url: receiver.url,
        backoff: { initialMs: 100, capMs: 1000 },
        deadLetter: { ageMs: 0, attempts: 1 },
      })
      expect(await ingest(exportLine(name, data))).toMatchObject({ status: 200 })
      const element = `{"export_name":"e","event_id":1,"timestamp_micros":1,"version":1,"data":${data}}`
      const pull = async () =>
        (await service.get(`/webhook/deadletter/test/exact?channel=${encodeURIComponent(name)}`)).body
          .messages
      await expect.poll(pull, { timeout: 20_000 }).toHaveLength(1)
      expect(receiver.calls.slice(before).map(({ text }) => text === `[${element}]`)).toEqual([true])
      const [letter] = await pull()
      expect(letter.data === `[${element}]`).toBe(true)
      receiver.answer = 200
      await service.post('/webhook/deadletter/test/exact/redrive', { ids: [letter.id] })
      await receiver.received(before + 2)
      expect(receiver.calls.at(-1)?.text === `[${element}]`).toBe(true)
    },
    60_000,
  )

  it('are at most 5 MiB: one more is refused by name, and nothing of its batch is kept (IN-1, IN-2)', async () => {
    const data = `"${'x'.repeat(MAX_BYTES - 1)}"`
    const lines = [exportLine('too large', '1'), exportLine('too large', data)].join('\n')
    const { status, body } = await ingest(lines)
    expect([status, body.message]).toEqual([
      400,
      'line 2: data has 5242881 bytes; at most 5242880 are allowed in an export',
    ])
    expect((await service.get('/webhook/channels/test/exact/too%20large')).status).toBe(404)
  })
})
