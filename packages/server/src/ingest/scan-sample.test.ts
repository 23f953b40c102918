import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Sample } from './batch.ts'
import { DEFAULT_INGEST_LIMITS as limits } from './ingest-limits.ts'
import { parseBody } from './parse-body.ts'
import { createSampleScanner } from './scan-sample.ts'
import { createSeriesCatalog } from './series-catalog.ts'
import { validateBatch } from './validate-batch.ts'

const catalog = createSeriesCatalog(limits)

/** The sample of a line as it is read with care; null where it is none. */
async function readCarefully(line: string): Promise<Sample | null> {
  try {
    const { records } = await parseBody(Buffer.from(line), 'application/x-ndjson', {
      scan: () => null,
      learn: () => undefined,
    })
    const { samples } = await validateBatch(records, { version: 1, catalog, limits })
    return samples[0] ?? null
  } catch {
    return null
  }
}

const text = fc.oneof(
  fc.constantFrom('', 'a', '1', 'über', '{', '}', ':', ',', '"', '\\', '\u0000', 'x'.repeat(65)),
  fc.string({ maxLength: 5 }),
)
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.50',
    '-1',
    '1e3',
    '1E-3',
    '01',
    '.5',
    '5.',
    '+1',
    '9007199254740993',
    '0x1',
    'NaN',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.constantFrom(
    '"1"',
    '{"$int":"5"}',
    '{"$decimal":"1.5"}',
    'null',
    'true',
    '0.1234567890123456789',
    '4294967296',
  ),
)
const token = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  number,
)
const key = fc.constantFrom(
  'chain',
  'contract',
  'address',
  'blockHash',
  'transaction_hash',
  'labels',
  'blockNumber',
  'block_number',
  'transactionIndex',
  'logIndex',
  'log_index',
  'value',
  'time',
  'extra',
)
const labels = fc.dictionary(text, text, { maxKeys: 3 }).map((value) => JSON.stringify(value))
const anyMember = fc
  .tuple(key, token, labels)
  .map(([name, value, object]) => [name, name === 'labels' ? object : value] as const)
const word = fc.constantFrom('"1"', '"0xab"', '"über"')
const plainMember = fc.oneof(
  fc.tuple(fc.constantFrom('chain', 'contract', 'address', 'blockHash', 'transaction_hash'), word),
  fc.tuple(
    fc.constantFrom('blockNumber', 'transactionIndex', 'logIndex'),
    fc.nat({ max: 4_294_967_295 }).map(String),
  ),
  fc.tuple(fc.constant('labels'), fc.constantFrom('{}', '{"pair":"a"}', '{"pair":"b","side":"ü"}')),
)
const members = fc.oneof(
  { weight: 3, arbitrary: fc.uniqueArray(plainMember, { maxLength: 5, selector: ([name]) => name }) },
  { weight: 2, arbitrary: fc.array(fc.oneof(anyMember, plainMember), { maxLength: 5 }) },
)
const plainNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
)
const space = fc.constantFrom('', '', '', ' ', '\t')

/** Lines of which most are samples, and most of these plain. */
const line = fc
  .record({
    type: fc.constantFrom('counter', 'gauge', 'gauge', 'event'),
    name: fc.constantFrom('a', 'b', 'c d', 'ü'),
    value: fc.oneof({ weight: 2, arbitrary: plainNumber }, number),
    micros: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('1700000000000000', '1700000000000001') },
      fc.constantFrom('-5', '99999999999999999', '1e15'),
    ),
    members,
    space,
    tail: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom(' ', '}', ',', 'x')),
    isReversed: fc.boolean(),
  })
  .map(({ type, name, value, micros, members, space: gap, tail, isReversed }) => {
    const all = [
      ['type', JSON.stringify(type)],
      ['name', JSON.stringify(name)],
      ['value', value],
      ['timestampMicros', micros],
      ...members,
    ].map(([field, written]) => `${JSON.stringify(field)}${gap}:${gap}${written}`)
    return `{${gap}${(isReversed ? all.toReversed() : all).join(`${gap},${gap}`)}${gap}}${tail}`
  })

describe('the quick reading of samples', () => {
  it('gives what the careful one gives, or leaves the line to it (IN-2)', async () => {
    const scanner = createSampleScanner(50)
    let quick = 0
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 10 }), async (lines) => {
        const body = Buffer.from(lines.join('\n'))
        let start = 0
        for (const each of lines) {
          const end = start + Buffer.byteLength(each)
          const careful = await readCarefully(each)
          // Twice, as a line is only read quickly once it is known.
          for (let time = 0; time < 2; time++) {
            const sample = scanner.scan(body, start, end, 0)
            if (sample) expect({ each, sample }).toEqual({ each, sample: careful })
            if (sample) quick++
            if (!sample && careful) scanner.learn(body, start, end, careful.series)
          }
          start = end + 1
        }
      }),
      { numRuns: 1000 },
    )
    expect(quick).toBeGreaterThan(300)
  })

  it('reads every line that JSON.stringify writes of a sample, once its series is known', async () => {
    const scanner = createSampleScanner()
    for (let i = 0; i < 20; i++) {
      const written = Buffer.from(
        JSON.stringify({
          type: 'gauge',
          name: 'price',
          value: -1.5 * i,
          labels: { pair: `p${i % 5}` },
          chain: '1',
          blockNumber: i,
          timestampMicros: 1_700_000_000_000_000 + i,
          blockHash: '0xff',
          transactionIndex: i,
          logIndex: 2,
          contract: 'Pool',
          address: '0xab',
        }),
      )
      const careful = await readCarefully(written.toString())
      const sample = scanner.scan(written, 0, written.length, 0)
      if (i < 5) scanner.learn(written, 0, written.length, careful?.series ?? expect.fail('no sample'))
      else expect(sample).toEqual(careful)
    }
  })
})
