import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBridge, type ProcessResult } from '../src/index.ts'
import { startFakeServer } from './fake-server.ts'

let service: Awaited<ReturnType<typeof startFakeServer>>
beforeEach(async () => {
  service = await startFakeServer()
})
afterEach(() => service.stop())

interface Recording {
  readonly exportConfigs: readonly { readonly name: string; readonly channel: string }[]
  readonly results: readonly ProcessResult[]
}

/** What an unmodified processor answered to three recorded logs: two of block 100, one of block 101. */
function recording(version: number): Recording {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', `process-results-${version}.json`), 'utf8')
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('$bytes' in value) return Buffer.from(value.$bytes as string, 'base64')
    return '$date' in value ? new Date(value.$date as string) : value
  }) as Recording
}

const block = (number: number) => ({ chain: '1', number, time: new Date(1_700_000_000_000 + number * 1000) })
const connection = () => ({ baseUrl: service.baseUrl, apiKey: 'mr_test', project: 'demo/erc20' })
const lines = () =>
  service.requests.flatMap(({ body }) =>
    body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  )

async function send(version: number): Promise<readonly Record<string, unknown>[]> {
  const { exportConfigs, results } = recording(version)
  const bridge = createBridge({ ...connection(), exportConfigs })
  await bridge.block(block(100), results.slice(0, 2))
  await bridge.block(block(101), results.slice(2))
  await bridge.flush()
  return lines()
}

describe('the bridge', () => {
  it.each([2, 3])(
    'takes every record of a processor of version %i once, at its place (IN-1, IN-6)',
    async (version) => {
      const sent = await send(version)
      const place = {
        chain: '1',
        blockNumber: 101,
        timestampMicros: 1_700_000_101_000_000,
        transactionHash: `0x${'71010'.padStart(64, '0')}`,
        transactionIndex: 3,
        logIndex: 0,
        contract: 'usdt',
        address: '0xdac17f958d2ee523a2206206994597c13d831ec7',
      }
      const last = sent.slice(-6)
      const of = (type: string, name: string) =>
        last.find((line) => line['type'] === type && line['name'] === name)
      const value = { $int: String(2n ** 200n) }
      expect(sent.length).toBe(5 + 6 + 6)
      expect(of('counter', 'volume')).toEqual({
        type: 'counter',
        name: 'volume',
        value,
        labels: { kind: 'large' },
        ...place,
      })
      expect(of('counter', 'transfers')).toMatchObject({ value: 1, labels: {} })
      expect(of('gauge', 'last_value')).toMatchObject({ value })
      expect(of('gauge', 'ratio')).toMatchObject({ value: 0.25 })
      expect(of('event', 'Transfer')).toEqual({
        type: 'event',
        name: 'Transfer',
        distinctId: '0x00000000000000000000000000000000000A11cE',
        severity: 'INFO',
        message: 'moved',
        attributes: {
          to: '0x0000000000000000000000000000000000000B0b',
          value,
          half: expect.anything(),
          at: { $time: '2023-11-14T22:13:20.000Z' },
          flag: true,
          nested: { list: [version === 2 ? 1 : '1', 'x', '2'], none: null },
        },
        ...place,
      })
      expect(of('export', 'large_transfer')).toMatchObject({
        channel: 'treasury',
        position: 0,
        data: { to: '0x0000000000000000000000000000000000000B0b', value: String(2n ** 200n) },
      })
    },
  )

  it('forwards the payload of an export as it is written (DL-1)', async () => {
    const bridge = createBridge({ ...connection(), exportConfigs: [{ name: 'x', channel: 'c' }] })
    const payload = '{"b":1.10,\n"a":123456789012345678901234567890}'
    await bridge.block(block(1), [{ exports: [{ metadata: { name: 'x' }, payload }] }])
    await bridge.flush()
    expect(service.requests[0]?.body).toContain('"data":{"b":1.10, "a":123456789012345678901234567890}}')
  })

  it('subtracts, keeps decimals exact and leaves out what is no number', async () => {
    const bridge = createBridge(connection())
    const metadata = { name: 'm', blockNumber: 1n, chainId: '1' }
    await bridge.block(block(1), [
      { counters: [{ metadata, metricValue: { bigDecimal: '1.5e-7' }, add: false }] },
      { gauges: [{ metadata, metricValue: { doubleValue: Number.NaN } }] },
      { gauges: [{ metadata, metricValue: { bigInteger: { negative: true, data: Buffer.from([1, 0]) } } }] },
    ])
    await bridge.flush()
    expect(lines().map(({ type, value }) => [type, value])).toEqual([
      ['counter', { $decimal: '-0.00000015' }],
      ['gauge', { $int: '-256' }],
    ])
  })

  it('changes entities as the processor asked', async () => {
    const bridge = createBridge(connection())
    const fields = {
      balance: { bigintValue: { data: Buffer.from([5]) } },
      rate: { bigdecimalValue: { value: { data: Buffer.from([15]) }, exp: -1 } },
    }
    await bridge.block(
      block(1),
      [],
      [
        {
          upsert: {
            entity: ['Account', 'Account'],
            id: ['a', 'b'],
            entityData: [{ fields }, { fields: {} }],
          },
        },
        {
          update: {
            entity: ['Account'],
            id: ['a'],
            entityData: [
              {
                fields: {
                  balance: { op: 1, value: fields.balance },
                  rate: { op: 2, value: fields.rate },
                  note: { value: { stringValue: 'n' } },
                },
              },
            ],
          },
        },
        { delete: { entity: ['Account'], id: ['b'] } },
      ],
    )
    await bridge.flush()
    expect(lines().map(({ type, id, attributes }) => [type, id, attributes])).toEqual([
      ['upsert', 'a', { balance: { $int: '5' }, rate: { $decimal: '1.5' } }],
      ['upsert', 'b', {}],
      ['upsert', 'a', { balance: { $int: '10' }, rate: { $decimal: '2.25' }, note: 'n' }],
      ['delete', 'b', undefined],
    ])
  })

  it('refuses results of another block, and exports without a channel', async () => {
    const bridge = createBridge(connection())
    const metadata = { name: 'm', blockNumber: 2n, chainId: '1' }
    const foreign = bridge.block(block(1), [{ gauges: [{ metadata, metricValue: { doubleValue: 1 } }] }])
    await expect(foreign).rejects.toThrow('a result of block 2')
    const unknown = bridge.block(block(1), [{ exports: [{ metadata: { name: 'x' }, payload: '1' }] }])
    await expect(unknown).rejects.toThrow('export "x" is not among exportConfigs')
  })
})
