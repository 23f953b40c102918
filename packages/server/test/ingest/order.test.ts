import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const FIRST_MICROS = Date.UTC(2026, 0, 1) * 1000
const BLOCK_MICROS = 3_600_000_000

/** Months from the first block to the last: several partitions, and hours far from each other. */
const LAST_BLOCK = 2500

/** A change of one thing at a place that nothing else has. */
interface Change {
  readonly kind: 'counter' | 'gauge' | 'event' | 'upsert' | 'delete'
  readonly of: string
  readonly block: number
  readonly transaction: number
  readonly log: number
  readonly value: number
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('counter', 'gauge', 'event', 'upsert', 'upsert', 'delete'),
  of: fc.constantFrom('a', 'b'),
  // Near each other or far apart.
  block: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: LAST_BLOCK })),
  transaction: fc.integer({ min: 0, max: 2 }),
  log: fc.integer({ min: 0, max: 3 }),
  // Quarters add up to the same sum in any order.
  value: fc.integer({ min: -4000, max: 4000 }).map((quarters) => quarters / 4),
})

const history = fc.uniqueArray(change, {
  selector: ({ kind, of, block, transaction, log }) => {
    const table = kind === 'delete' ? 'upsert' : kind
    return [table, of, block, transaction, log].join()
  },
  minLength: 20,
  maxLength: 120,
})

/** Everything in order in one batch, and the same late: in any order and any number of batches. */
const arrivals = fc.tuple(history, fc.infiniteStream(fc.nat()), fc.integer({ min: 1, max: 6 }))

const QUERIES = [
  { query: 'g' },
  { query: 'g', functions: [{ name: 'rollup_last', arguments: [window(6)] }] },
  { query: 'g', functions: [{ name: 'delta', arguments: [window(12)] }] },
  { query: 'c' },
  { query: 'c', functions: [{ name: 'rollup_delta', arguments: [window(24)] }] },
  { query: 'c', functions: [{ name: 'max_over_time', arguments: [window(5)] }] },
  { query: 'c', aggregate: { op: 'SUM', grouping: [] } },
]

const STATEMENTS = [
  'select block_number, transaction_index, log_index, name, value from E order by all',
  'select id, value, __block_number from T order by id',
  'select id, value, __deleted, __block_number, __log_index from T_history order by all',
  'select block_number, value, labels from c order by all',
]

function window(hours: number): object {
  return { durationValue: { value: hours, unit: 'h' } }
}

function toRecord({ kind, of, block, transaction, log, value }: Change): object {
  const place = {
    chain: '1',
    blockNumber: block,
    transactionIndex: transaction,
    logIndex: log,
    timestampMicros: FIRST_MICROS + block * BLOCK_MICROS,
  }
  switch (kind) {
    case 'counter':
      return { type: kind, name: 'c', labels: { of }, value, ...place }
    case 'gauge':
      return { type: kind, name: 'g', labels: { of }, value, ...place }
    case 'event':
      return { type: kind, name: 'E', attributes: { name: of, value }, ...place }
    case 'upsert':
      return { type: kind, name: 'T', id: of, attributes: { value }, ...place }
    case 'delete':
      return { type: kind, name: 'T', id: of, ...place }
  }
}

let service: TestService
let projects = 0

beforeAll(async () => {
  service = await startTestService()
})

afterAll(() => service.stop())

async function createProject(): Promise<string> {
  projects++
  await service.post('/projects', { owner: 'order', name: `p${projects}` })
  const project = `order/p${projects}`
  // Every table is there whatever the history has.
  const kinds = ['counter', 'gauge', 'event', 'upsert'] as const
  await send(
    project,
    kinds.map((kind) => ({ kind, of: 'z', block: 0, transaction: 9, log: 9, value: 0 })),
  )
  return project
}

async function send(project: string, changes: readonly Change[]): Promise<void> {
  const { status, body } = await service.post(`/ingest/${project}/batch`, { records: changes.map(toRecord) })
  expect(status, JSON.stringify(body)).toBe(200)
}

/** Hour by hour where most of it is, and day by day over all of it. */
async function answers(project: string): Promise<readonly unknown[]> {
  return [
    ...(await metricAnswers(project, { end: 110, step: 3600 })),
    ...(await metricAnswers(project, { end: LAST_BLOCK + 30, step: 86_400 })),
    ...(await sqlAnswers(project)),
  ]
}

async function metricAnswers(
  project: string,
  { end, step }: { readonly end: number; readonly step: number },
): Promise<readonly unknown[]> {
  const range = await service.post(`/metrics/${project}/query_range`, {
    timeRange: {
      start: FIRST_MICROS / 1000,
      end: (FIRST_MICROS + end * BLOCK_MICROS) / 1000,
      step,
    },
    queries: QUERIES.map((query, index) => ({ id: String(index), ...query })),
    cachePolicy: { noCache: true },
  })
  expect(range.status, JSON.stringify(range.body)).toBe(200)
  return (range.body.results as { error?: string; matrix: { samples: unknown[] } }[]).map(
    ({ error, matrix }) => {
      expect(error).toBeUndefined()
      return matrix.samples
    },
  )
}

async function sqlAnswers(project: string): Promise<readonly unknown[]> {
  const rows = await Promise.all(
    STATEMENTS.map((sql) =>
      service.post(`/analytics/${project}/sql/execute`, {
        sqlQuery: { sql },
        cachePolicy: { noCache: true },
      }),
    ),
  )
  return rows.map(({ status, body }) => {
    expect(status, JSON.stringify(body)).toBe(200)
    return body.result.rows
  })
}

function inPlace(changes: readonly Change[]): Change[] {
  return changes.toSorted((a, b) => a.block - b.block || a.transaction - b.transaction || a.log - b.log)
}

it('late, backfilled and disordered data answers every query as data in order does (MQ-3, IN-1)', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, async ([changes, keys, batches]) => {
      const [inOrder, late] = [await createProject(), await createProject()]
      await send(inOrder, inPlace(changes))
      const shuffled = changes
        .map((each) => ({ each, key: keys.next().value ?? 0 }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ each }) => each)
      const size = Math.ceil(shuffled.length / batches)
      for (let start = 0; start < shuffled.length; start += size) {
        await send(late, shuffled.slice(start, start + size))
        // What readers keep of an answer must not outlive what comes later.
        await answers(late)
      }
      expect(await answers(late)).toEqual(await answers(inOrder))
    }),
    { numRuns: 4, endOnFailure: true },
  )
}, 120_000)

it('a rollback leaves what there would be if nothing above the block had come (IN-3)', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 0, max: 120 }), async (changes, block) => {
      const [rolledBack, never] = [await createProject(), await createProject()]
      await send(rolledBack, changes)
      await answers(rolledBack)
      await service.post(`/ingest/${rolledBack}/rollback`, { chain: '1', blockNumber: block })
      const kept = changes.filter((each) => each.block <= block)
      if (kept.length > 0) await send(never, kept)
      expect(await answers(rolledBack)).toEqual(await answers(never))
    }),
    { numRuns: 3, endOnFailure: true },
  )
}, 120_000)
