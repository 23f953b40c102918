import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordedBlocks, surveyRecording } from '../../src/demo/recorded-blocks.ts'
import { applySteps, takeUntil } from './gather-steps.ts'

const RECORDING = fileURLToPath(new URL('../../../../../shared/data/logs.ndjson.gz', import.meta.url))
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const topic = (digit: string) => `0x${digit.repeat(40).padStart(64, '0')}`
const isCurrent = ({ kind }: { kind: string }) => kind === 'current'

function line(chain: string, block: number, log: number, timeSeconds: number) {
  return {
    chain,
    block_number: block,
    block_time: timeSeconds,
    block_hash: null,
    transaction_hash: '0x01',
    transaction_index: 0,
    log_index: log,
    address: '0xcc',
    topics: [TRANSFER, topic('a'), topic('b')],
    data: `0x${'1'.padStart(64, '0')}`,
  }
}
const LINES = [
  line('ethereum', 5, 0, 1000),
  line('ethereum', 5, 4, 1000),
  { ...line('ethereum', 6, 0, 1012), topics: [topic('c')] },
  line('ethereum', 7, 1, 1024),
  line('polygon', 5, 0, 900),
]
const text = LINES.map((each) => JSON.stringify(each)).join('\n') + '\n'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-recorded-'))
  await writeFile(join(directory, 'logs.ndjson'), text)
  await writeFile(join(directory, 'logs.ndjson.gz'), gzipSync(text))
  await writeFile(join(directory, 'broken.ndjson'), `${JSON.stringify(LINES[0])}\n{"chain":`)
  await writeFile(join(directory, 'other.ndjson'), '{"a":1}\n')
})
afterAll(() => rm(directory, { recursive: true }))

const replay = (name: string, more: object = {}) =>
  recordedBlocks({ path: join(directory, name), shiftSeconds: 0, lines: 5, known: new Map(), ...more })

describe('a recording', () => {
  it.each(['logs.ndjson', 'logs.ndjson.gz'])('is replayed block by block from %s', async (name) => {
    const blocks = applySteps(await takeUntil(replay(name), isCurrent))
    expect(
      blocks.map(({ chain, number, timeSeconds, events }) => [chain, number, timeSeconds, events.length]),
    ).toEqual([
      ['1', 5, 1000, 2],
      ['1', 7, 1024, 1],
      ['137', 5, 900, 1],
    ])
  })

  it('is moved in time as a whole', async () => {
    const { lines, lastSeconds } = await surveyRecording(join(directory, 'logs.ndjson'))
    expect({ lines, lastSeconds }).toEqual({ lines: 5, lastSeconds: 1024 })
    const shifted = await takeUntil(replay('logs.ndjson', { shiftSeconds: 5000 - lastSeconds }), isCurrent)
    expect(applySteps(shifted).map(({ timeSeconds }) => timeSeconds)).toEqual([4976, 5000, 4876])
  })

  it('is resumed behind the last block that the service has of each chain', async () => {
    const known = new Map([['1', [{ number: 5, hash: '' }]]])
    const blocks = applySteps(await takeUntil(replay('logs.ndjson', { known }), isCurrent))
    expect(blocks.map(({ chain, number }) => `${chain}/${number}`)).toEqual(['1/7', '137/5'])
  })

  it.each([
    ['broken.ndjson', /broken\.ndjson, line 2: not JSON/],
    ['other.ndjson', /other\.ndjson, line 1: a log has chain, block_number/],
    ['missing.ndjson', /ENOENT/],
    ['missing.ndjson.gz', /ENOENT/],
  ])('that is not one is refused with its place: %s', async (name, message) => {
    await expect(takeUntil(replay(name), isCurrent)).rejects.toThrow(message)
  })
})

it.each([RECORDING].filter((path) => existsSync(path)))(
  'replays the real recording with the transfers and swaps that its description counts',
  async (path) => {
    const { lines } = await surveyRecording(path)
    const source = recordedBlocks({ path, shiftSeconds: 0, lines, known: new Map() })
    const events = applySteps(await takeUntil(source, isCurrent)).flatMap((block) => block.events)
    expect(lines).toBe(36_776)
    expect(events.filter(({ kind }) => kind === 'transfer').length).toBe(17_624)
    expect(events.filter(({ kind }) => kind === 'swap').length).toBe(6_766)
  },
)
