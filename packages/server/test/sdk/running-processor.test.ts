import {
  createBridge,
  runBindings,
  type Bridge,
  type EntityRequest,
  type ProcessBindings,
  type ProcessResult,
} from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const SCHEMA = `
"""Accounts: { not a type }."""
interface Holder { id: ID! }
# type Commented { id: ID! }
type Account implements Holder @entity(immutable: false) {
  id: ID!
  owner: String
  balance: BigInt!
  share: BigDecimal
  count: Int!
  wide: Int8
  ratio: Float
  live: Boolean
  seen: Timestamp
  code: Bytes
  "their ids" peers(first: Int = 5): [Account!]!
  amounts: [BigInt!]
  transfers: [Transfer!]! @derivedFrom(field: "from")
}`

let service: TestService
let bridge: Bridge

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
  const connection = { baseUrl: service.url, apiKey: service.administratorKey, project: 'test/p' }
  bridge = createBridge({ ...connection, dbSchema: { gqlSchema: SCHEMA } })
})
afterAll(() => service.stop())

/** A handler of a running processor: each request it yields is answered. */
type Handler = () => Generator<EntityRequest, ProcessResult, unknown>

/** The runtime of a processor as it behaves on its stream: it processes a binding and asks by numbered operations. */
const runtime: ProcessBindings<Handler> = async function* (requests) {
  let running: ReturnType<Handler> | undefined
  let opId = 0n
  for await (const { processId, binding, dbResult } of requests) {
    running = binding?.() ?? running
    if (!running) throw new Error('nothing runs')
    let step: IteratorResult<EntityRequest, ProcessResult>
    try {
      step = dbResult?.error === undefined ? running.next(dbResult) : running.throw(new Error(dbResult.error))
    } catch (error) {
      yield { processId, result: { states: { error: (error as Error).message } } }
      continue
    }
    if (step.done === true) {
      const { timeseriesResult = [], ...result } = step.value
      yield { processId, tsRequest: { data: timeseriesResult } }
      yield { processId, result }
    } else yield { processId, dbRequest: { ...step.value, opId: opId++ } }
  }
}

const run = (number: number, ...handlers: readonly Handler[]) =>
  bridge.run({ chain: '1', number, time: new Date(1_700_000_000_000 + number * 1000) }, ({ answer }) =>
    runBindings(runtime, handlers, answer),
  )
const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql } })
  return body.result?.rows ?? body
}

const bytes = (...values: readonly number[]) => Buffer.from(values)
const fields = {
  id: { stringValue: 'a' },
  balance: { bigintValue: { negative: true, data: bytes(1, 0) } },
  share: { bigdecimalValue: { value: { negative: false, data: bytes(15) }, exp: -1 } },
  count: { intValue: 7 },
  wide: { int64Value: 2n ** 60n },
  ratio: { floatValue: 3 },
  live: { boolValue: false },
  seen: { timestampValue: new Date(5) },
  code: { bytesValue: bytes(0, 255) },
  peers: { listValue: { values: [{ stringValue: 'b' }] } },
  amounts: { listValue: { values: [{ bigintValue: { negative: false, data: bytes(255, 255) } }] } },
}
const full = { ...fields, owner: { nullValue: 0 } }
const upsert = (...states: readonly Readonly<Record<string, object>>[]) => ({
  upsert: {
    entity: states.map(() => 'Account'),
    id: states.map(({ id }) => (id as { stringValue: string }).stringValue),
    entityData: states.map((state) => ({ fields: state })),
  },
})
const entitiesOf = (answer: unknown) =>
  (answer as { entityList: { entities: readonly { data: { fields: Record<string, object> } }[] } }).entityList
    .entities
/** Bytes compare by their content. */
const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)),
  ) as unknown

describe('a processor that runs behind the bridge', () => {
  it('reads its entities back as it wrote them, in the block, in a later one, and from the service (IN-6)', async () => {
    const read: unknown[] = []
    const get: Handler = function* () {
      read.push(yield { get: { entity: 'Account', id: 'a' } })
      return {}
    }
    await run(
      1,
      get,
      function* () {
        yield upsert(fields)
        return {}
      },
      get,
    )
    await run(2, get)
    await bridge.flush()
    await run(3, get)
    const [before, ...after] = read
    expect(entitiesOf(before)).toEqual([])
    for (const each of after) {
      expect(plain(entitiesOf(each)[0]?.data.fields)).toEqual(plain(full))
    }
    expect(after.length).toBe(3)
  })

  it('updates fields of an entity and leaves the others as they were', async () => {
    await run(4, function* () {
      yield {
        update: {
          entity: ['Account'],
          id: ['a'],
          entityData: [
            {
              fields: {
                balance: { op: 1, value: { floatValue: 6 } },
                count: { op: 2, value: { floatValue: 3 } },
                owner: { op: 0, value: { stringValue: 'o' } },
              },
            },
          ],
        },
      }
      return {}
    })
    await bridge.flush()
    expect(
      await rows('select owner, balance, share, count, wide, peers, amounts, code from Account'),
    ).toEqual([
      {
        owner: 'o',
        balance: '-250',
        share: '1.5',
        count: 21,
        wide: String(2n ** 60n),
        peers: '["b"]',
        amounts: '["65535"]',
        code: '0x00ff',
      },
    ])
  })

  it('lists by filters, page by page, and deletes', async () => {
    const ids: string[][] = []
    let only: readonly object[] = []
    const state = (id: string, balance: number) => ({
      id: { stringValue: id },
      balance: { bigintValue: { data: bytes(balance) } },
      peers: { listValue: { values: [{ stringValue: 'x' }, { stringValue: id }] } },
    })
    await run(5, function* () {
      yield upsert(...['b', 'c', 'd', 'e'].map((id, index) => state(id, index + 1)))
      yield { delete: { entity: ['Account'], id: ['c'] } }
      const filters = [{ field: 'balance', op: 2, value: { values: [{ bigintValue: { data: bytes(0) } }] } }]
      let cursor = ''
      do {
        const answer: unknown = yield { list: { entity: 'Account', filters, cursor, pageSize: 2 } }
        ids.push(
          entitiesOf(answer).map(({ data }) => (data.fields['id'] as { stringValue: string }).stringValue),
        )
        cursor = (answer as { nextCursor?: string }).nextCursor ?? ''
      } while (cursor !== '')
      const has = [{ field: 'peers', op: 'HAS_ANY', value: { values: [{ stringValue: 'd' }] } }]
      only = entitiesOf(yield { list: { entity: 'Account', filters: has } })
      return {}
    })
    expect(ids).toEqual([['b', 'd'], ['e']])
    expect(only.length).toBe(1)
  })

  it('gives its time series in parts, once each, in the order of its bindings (IN-1)', async () => {
    const metadata = { name: 'moved', chainId: '1', blockNumber: 6n, labels: {} }
    const handler = (value: number): Handler =>
      function* () {
        yield { get: { entity: 'Account', id: 'b' } }
        return {
          timeseriesResult: [{ metadata, type: 2, data: { fields: { value: { floatValue: value } } } }],
          // What older readers get of the same.
          counters: [{ metadata, metricValue: { doubleValue: value }, add: true }],
        }
      }
    await run(6, handler(1), handler(10))
    await bridge.flush()
    expect(await rows('select value from moved order by value')).toEqual([{ value: 1 }, { value: 10 }])
  })

  it('is told what was wrong with a request, and nothing is kept of a block whose handler threw', async () => {
    const failing = run(7, function* () {
      yield upsert({ id: { stringValue: 'never' } })
      yield { list: { entity: 'Account', filters: [{ field: 'x', op: 99 }] } }
      return {}
    })
    await expect(failing).rejects.toThrow('the processor failed: operator 99 of a filter is not known')
    await bridge.flush()
    expect(await rows(`select count() as n from Account where id = 'never'`)).toEqual([{ n: 0 }])
  })
})
