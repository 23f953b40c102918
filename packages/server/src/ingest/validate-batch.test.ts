import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_INGEST_LIMITS } from './ingest-limits.ts'
import { parseBody } from './parse-body.ts'
import { createSampleScanner } from './scan-sample.ts'
import { createSeriesCatalog, seriesId } from './series-catalog.ts'
import { validateBatch } from './validate-batch.ts'

const limits = { ...DEFAULT_INGEST_LIMITS, maxExportBytes: 20 }
const base = { type: 'gauge', name: 'm', value: 1, timestampMicros: 1_700_000_000_000_000 }

async function validate(text: string, contentType = 'application/json') {
  const { records } = await parseBody(Buffer.from(text), contentType, createSampleScanner())
  return validateBatch(records, { version: 1, catalog: createSeriesCatalog(limits), limits })
}

const validateRecords = (...records: readonly unknown[]) => validate(JSON.stringify({ records }))

describe('a batch of records', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'an unknown type',
      { type: 'histogram' },
      'type must be one of counter, gauge, metric, event, upsert, delete, export',
    ],
    ['a missing name', { name: '' }, 'name is required'],
    ['a name that is a number', { name: 7 }, 'name must be a string'],
    ['a long name', { name: 'a'.repeat(513) }, 'name has more than 512 characters'],
    [
      'a value that is a text',
      { value: '1' },
      'value must be a finite number, {"$int": "…"} or {"$decimal": "…"}',
    ],
    ['a missing value', { value: null }, 'value must be a finite number, {"$int": "…"} or {"$decimal": "…"}'],
    ['a missing time', { timestampMicros: null }, 'timestampMicros is required, or time instead'],
    [
      'a fraction of a microsecond',
      { timestampMicros: 1.5 },
      'timestampMicros must be an integer of microseconds since 1970, from 1900 to 2254',
    ],
    [
      'a day that does not exist',
      { timestampMicros: null, time: '2026-02-30T00:00:00Z' },
      'time must be RFC 3339 such as "2026-01-31T12:00:00.000001Z", from 1900 to 2254',
    ],
    ['a negative block', { blockNumber: -1 }, 'blockNumber must be an integer from 0 to 9007199254740991'],
    ['a chain that is a number', { chain: 1 }, 'chain must be a string'],
    ['a NUL in a chain', { chain: 'a\u0000' }, 'chain must not hold the character U+0000'],
    [
      'a reserved label',
      { labels: { chain: '1' } },
      "labels.chain is reserved; it is filled from the record's chain, contract and address",
    ],
    ['a label that is a number', { labels: { a: 1 } }, 'labels.a must be a string'],
    ['labels that are a list', { labels: ['a'] }, 'labels must be an object of strings'],
    [
      'two labels of one clean name',
      { labels: { 'a-b': '1', 'a+b': '2' } },
      'labels.a+b is the same label as another one: both are kept as "a_b"',
    ],
    [
      'half a surrogate pair',
      { labels: { a: '\ud800' } },
      'labels.a holds half a surrogate pair, which is no Unicode text',
    ],
    [
      'a reserved attribute',
      { type: 'event', attributes: { block_number: 1 } },
      'attributes.block_number is reserved: every event log has a column of this name',
    ],
    [
      'an integer of 257 bits',
      { type: 'event', attributes: { a: { $int: String(2n ** 256n) } } },
      'attributes.a.$int is beyond 256 bits (from -2^255 to 2^256-1)',
    ],
    [
      'a decimal of 31 digits',
      { type: 'event', attributes: { a: { $decimal: `0.${'1'.repeat(31)}` } } },
      'attributes.a.$decimal must be a text of up to 46 digits before and 30 after the point, e.g. "-1.5"',
    ],
    [
      'an instant without a zone',
      { type: 'event', attributes: { a: { $time: '2026-01-01T00:00:00' } } },
      'attributes.a.$time must be RFC 3339 up to microseconds, e.g. "2026-01-31T12:00:00Z"',
    ],
    ['an export without a channel', { type: 'export', data: 1 }, 'channel is required'],
    ['an export without data', { type: 'export', channel: 'c' }, 'data is required'],
    [
      'an export that is too large',
      { type: 'export', channel: 'c', data: 'x'.repeat(20) },
      'data has 22 bytes; at most 20 are allowed in an export',
    ],
    [
      'a position that is no integer',
      { type: 'export', channel: 'c', data: 1, position: 0.5 },
      'position must be an integer from 0 to 2^40',
    ],
  ])('is refused for %s, naming field and what is allowed (ER-2)', async (_what, change, message) => {
    await expect(validateRecords(base, { ...base, ...change })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: `records[1]: ${message}`,
    })
  })

  it('is refused with its first faults by index (IN-2)', async () => {
    const faulty = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? base : { ...base, value: 'x' }))
    await expect(validateRecords(...faulty)).rejects.toSatisfy(
      (error: { details: readonly { index: number }[] }) => {
        expect(error.details.map(({ index }) => index)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
        return true
      },
    )
  })

  it.each([
    ['{"records":[', 'application/json', 'the body is not valid JSON:'],
    ['[]', 'application/json', 'the body must be an object with records'],
    ['{}', 'application/json', 'records is required and must be an array'],
    ['{"records":[],"batchId":""}', 'application/json', 'batchId must be a string of 1 to 128 characters'],
    ['{"records":[],"version":-1}', 'application/json', 'version must be a positive integer'],
    [`${'{}\n'.repeat(6)}{"a":}\n`, 'application/ndjson', 'line 7 is not valid JSON:'],
  ])('that is malformed, %j, is refused saying where (ER-5)', async (text, contentType, message) => {
    await expect(validate(text, contentType)).rejects.toThrow(message)
  })

  it('must be UTF-8', async () => {
    await expect(
      parseBody(Buffer.from([0x22, 0xff, 0x22]), undefined, createSampleScanner()),
    ).rejects.toThrow('the body must be UTF-8')
  })

  it('accepts both spellings of a field, and null as absent (WI-2)', async () => {
    const camel = {
      ...base,
      blockNumber: 5,
      transactionIndex: 3,
      logIndex: 2,
      blockHash: 'b',
      transactionHash: 't',
    }
    const snake = {
      type: 'gauge',
      name: 'm',
      value: 1,
      timestamp_micros: String(base.timestampMicros),
      block_number: '5',
      transaction_index: 3,
      log_index: 2,
      block_hash: 'b',
      transaction_hash: 't',
      chain: null,
      labels: null,
    }
    const { samples } = await validateRecords(camel, snake)
    expect(samples[1]?.place).toEqual(samples[0]?.place)
    expect(samples[1]?.series).toBe(samples[0]?.series)
  })

  it('keeps the digits of values that a Float64 rounds (IN-6)', async () => {
    const record = JSON.stringify(base)
    const values = [
      '1',
      '0.1',
      '9007199254740993',
      '0.12345678901234567890',
      '{"$int":"9007199254740993"}',
      '{"$decimal":"0.5"}',
    ]
    const lines = values.map((value) => record.replace('"value":1', `"value":${value}`)).join('\n')
    const { samples } = await validate(lines, 'application/jsonl')
    expect(samples.map(({ exact }) => exact)).toEqual([
      '',
      '',
      '9007199254740993',
      '0.12345678901234567890',
      '9007199254740993',
      '',
    ])
    expect(samples.map(({ value }) => value)).toEqual([
      1, 0.1, 9007199254740992, 0.12345678901234568, 9007199254740992, 0.5,
    ])
  })

  it('refuses attributes that would silently lose digits, and keeps those of nested values (IN-6)', async () => {
    const event = (attribute: string) =>
      `{"type":"event","name":"E","timestampMicros":1,"attributes":{"a":${attribute}}}`
    await expect(validate(event('9007199254740993'), 'application/x-ndjson')).rejects.toThrow(
      'attributes.a has more digits than a JSON number keeps; send it as {"$int": "…"} or {"$decimal": "…"}',
    )
    await expect(validate(event('1e999'), 'application/x-ndjson')).rejects.toThrow(
      'attributes.a has more digits',
    )
    const { events } = await validate(event('{"x": 9007199254740993, "b":1.0}'), 'application/x-ndjson')
    expect(events.get('E')?.[0]?.attributes.get('a')).toEqual({
      kind: 'json',
      json: JSON.stringify('{"x": 9007199254740993, "b":1.0}'),
    })
  })
})

describe('series', () => {
  const labels = fc.dictionary(
    fc.stringMatching(/^[a-z_]{1,8}$/).filter((name) => name !== 'chain'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    { maxKeys: 6 },
  )

  it('have an id that depends on nothing but metric and labels, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(labels, async (given) => {
        const turned = Object.fromEntries(Object.entries(given).toReversed())
        const { samples } = await validateRecords({ ...base, labels: given }, { ...base, labels: turned })
        expect(samples[1]?.series).toBe(samples[0]?.series)
        const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
        expect(samples[0]?.series.labels).toEqual(named)
        expect(samples[0]?.series.id).toBe(seriesId('m', named))
      }),
    )
  })

  it('differ when metric, a label or the place differs', () => {
    const ids = [
      seriesId('m', {}),
      seriesId('n', {}),
      seriesId('m', { a: 'b' }),
      seriesId('m', { b: 'a' }),
      seriesId('m', { chain: '1' }),
      seriesId('m', { a: 'b', chain: '1' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('of labels whose texts run together are not mistaken for one another', async () => {
    const { series } = await validateRecords(
      { ...base, labels: { a: 'bc', d: 'e' } },
      { ...base, labels: { ab: 'c', d: 'e' } },
      { ...base, labels: { a: 'b', cd: 'e' } },
      { ...base, name: 'ma', labels: {} },
      { ...base, labels: { a: '1:b' } },
      { ...base, labels: { a: '', b: '' } },
    )
    expect(series.size).toBe(6)
  })
})
