import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
  // So that every column is there, whatever is absent in what follows.
  const columns = `"attributes":{"n":0,"small":{"$int":"1"},"large":{"$int":"${2n ** 255n}"},"decimal":{"$decimal":"1"},"number":1,"yes":true,"time":{"$time":"2024-01-01T00:00:00Z"},"text":"","nested":[]}`
  const time = '"timestampMicros":1'
  await service.post(
    '/ingest/test/p/batch',
    `{"records":[{"type":"event","name":"Event",${columns},${time}},{"type":"upsert","name":"Entity","id":"0",${columns},${time}}]}`,
  )
})
afterAll(() => service.stop())

/** A value as it is sent, as JSON, and as SQL answers it. */
type Pair = readonly [sent: string, stored: unknown]

const none: Pair = ['null', null]
/** Code points of all kinds, NUL among them; no half surrogate pairs, which are no Unicode. */
const text = fc.string({ unit: 'binary', maxLength: 40 })
const scaled = fc.tuple(fc.bigInt(-(10n ** 76n) + 1n, 10n ** 76n - 1n), fc.nat(30))
/** Whole numbers that a double cannot hold, and their neighbours. */
const nested = fc
  .tuple(
    fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }),
    fc.bigInt(-(2n ** 300n), 2n ** 300n),
    fc.boolean(),
  )
  .map(([value, digits, isList]) => {
    const inside = JSON.stringify(value)
    return isList ? `[${inside}, ${digits}, ${digits}.50]` : `{"b":${digits},"a": ${inside},"":1.0}`
  })

const attributes = fc.record<Record<string, Pair>>({
  small: pair(fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n), (value) => [`{"$int":"${value}"}`, String(value)]),
  large: pair(fc.bigInt(2n ** 255n, 2n ** 256n - 1n), (value) => [`{"$int":"${value}"}`, String(value)]),
  decimal: pair(scaled, ([digits, scale]) => {
    const plain = decimalOf(digits, scale)
    return [`{"$decimal":"${plain}"}`, plain]
  }),
  number: pair(fc.double({ noNaN: true, min: -9e15, max: 9e15 }), (value) => [
    JSON.stringify(value),
    value || 0,
  ]),
  yes: pair(fc.boolean(), (value) => [String(value), value]),
  time: pair(fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2254, 11, 31) }), (millis) => {
    const written = new Date(millis)
      .toISOString()
      .replace('Z', `${String(Math.abs(millis) % 1000).padStart(3, '0')}Z`)
    return [`{"$time":"${written}"}`, written]
  }),
  text: pair(text, (value) => [JSON.stringify(value), value]),
  nested: pair(nested, (value) => [value, value]),
})

function pair<Value>(arbitrary: fc.Arbitrary<Value>, toPair: (value: Value) => Pair): fc.Arbitrary<Pair> {
  return fc.oneof(
    { weight: 5, arbitrary: arbitrary.map(toPair) },
    { weight: 1, arbitrary: fc.constant(none) },
  )
}

/** In plain notation, with as few digits behind the point as it takes. */
function decimalOf(digits: bigint, scale: number): string {
  const whole = (digits < 0n ? -digits : digits) % 10n ** BigInt(46 + scale)
  const padded = whole.toString().padStart(scale + 1, '0')
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '')
  const sign = digits < 0n && whole !== 0n ? '-' : ''
  return `${sign}${padded.slice(0, padded.length - scale)}${scale > 0 && fraction !== '' ? `.${fraction}` : ''}`
}

const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql, size: 1000 } })
  return body.result?.rows ?? body
}

it('every value comes back from SQL as it was sent, of events, entities and labels, as JSON and as lines (IN-6, SQ-4)', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(attributes, { minLength: 1, maxLength: 30 }),
      fc.array(text, { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      async (given, labels, isJson) => {
        run++
        const place = `"chain":"1","blockNumber":${run},"timestampMicros":1700000000000000`
        const records = [
          ...given.flatMap((each, i) => {
            const members = Object.entries(each).map(([name, [sent]]) => `"${name}":${sent}`)
            const all = `"attributes":{${[`"n":${i}`, ...members].join(',')}},${place}`
            return [
              `{"type":"event","name":"Event",${all}}`,
              `{"type":"upsert","name":"Entity","id":"${run}-${i}",${all}}`,
            ]
          }),
          ...labels.map(
            (label, i) =>
              `{"type":"gauge","name":"labelled","value":${i},"labels":{"any":${JSON.stringify(label)}},${place}}`,
          ),
        ]
        const sent = isJson
          ? await service.post('/ingest/test/p/batch', `{"records":[${records.join(',')}]}`)
          : await service.post('/ingest/test/p/batch', records.join('\n'), {
              'content-type': 'application/x-ndjson',
            })
        expect([sent.status, sent.body.message]).toEqual([200, undefined])
        const expected = given.map((each, n) => ({
          n,
          ...Object.fromEntries(Object.entries(each).map(([name, [, stored]]) => [name, stored])),
        }))
        const columns = ['n', ...Object.keys(given[0] ?? {})].map((name) => `\`${name}\``).join(', ')
        expect(await rows(`select ${columns} from Event where block_number = ${run} order by n`)).toEqual(
          expected,
        )
        expect(await rows(`select ${columns} from Entity where __block_number = ${run} order by n`)).toEqual(
          expected,
        )
        expect(
          await rows(`select labels['any'] as any from labelled where block_number = ${run} order by value`),
        ).toEqual(labels.map((any) => ({ any })))
      },
    ),
    { numRuns: 25 },
  )
}, 120_000)
