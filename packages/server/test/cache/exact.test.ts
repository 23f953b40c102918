import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueryRangeRequest } from '@millrace/contract'
import { createDataVersions } from '../../src/cache/data-versions.ts'
import { createFairMemory } from '../../src/cache/fair-memory.ts'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { createReadViews } from '../../src/cache/read-view.ts'
import { createResultCache } from '../../src/cache/result-cache.ts'
import { createBucketSource } from '../../src/clickhouse/bucket-source.ts'
import { createSeriesSource } from '../../src/clickhouse/series-source.ts'
import { createDataVersionStore } from '../../src/database/data-version-store.ts'
import { createNameChangesStore } from '../../src/database/name-changes-store.ts'
import { createResultStore } from '../../src/database/result-store.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import { parseRangeQuery } from '../../src/metrics/range-query.ts'
import { createRememberedSeries } from '../../src/metrics/remembered-series.ts'
import { createPointMemory } from '../../src/metrics/reuse-points.ts'
import { createRunRangeQuery, type RunRangeQuery } from '../../src/metrics/run-range-query.ts'
import type { SeriesSource } from '../../src/metrics/series-source.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createTestProject, jsonBatch, startInstance } from '../ingest/instance.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { noCache, plain } from '../metrics/range-queries.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const period = (value: number, unit: string) => [{ durationValue: { value, unit } }]

/** Two metrics a request, so that their readings can fall on different states. The first three differ in length alone. */
const SHAPES: readonly ((nowMs: number) => QueryRangeRequest)[] = [
  ...[3, 9, 14].map((days) => (nowMs: number) => ({
    queries: [{ query: 'a' }, { query: 'b' }],
    timeRange: { start: nowMs - days * DAY_MS, end: nowMs, step: 3600 },
  })),
  (nowMs) => ({
    queries: [
      {
        query: 'a',
        functions: [{ name: 'max_over_time', arguments: period(1, 'd') }],
        aggregate: { op: 'SUM' },
      },
      { query: 'c', id: 'c' },
    ],
    formulas: [{ expression: 'c * 2' }],
    timeRange: { start: nowMs - 5 * DAY_MS, end: nowMs, step: 7200, timezone: 'America/Los_Angeles' },
  }),
  (nowMs) => ({
    queries: [
      {
        query: 'b',
        functions: [
          { name: 'rollup_min', arguments: period(6, 'h') },
          { name: 'topk', arguments: [{ intValue: 1 }] },
        ],
      },
      { query: 'd', functions: [{ name: 'avg_over_time', arguments: period(2, 'd') }] },
    ],
    timeRange: { start: nowMs - 4 * DAY_MS, end: nowMs - DAY_MS, step: 3600, timezone: 'Asia/Kathmandu' },
  }),
  (nowMs) => ({
    queries: [
      { query: 'e', functions: [{ name: 'avg_over_time', arguments: period(1, 'd') }] },
      { query: 'f', functions: [{ name: 'rate', arguments: period(6, 'h') }] },
      { query: 'e', functions: [{ name: 'stddev_over_time', arguments: period(1, 'd') }] },
      { query: 'f' },
    ],
    timeRange: { start: nowMs - 6 * DAY_MS, end: nowMs, step: 3600 },
  }),
  () => ({
    queries: [
      { query: 'a' },
      { query: 'b', functions: [{ name: 'delta_over_time', arguments: period(1, 'd') }] },
    ],
    timeRange: { start: 'now-3d', end: 'now', step: 3600 },
  }),
]

const hoursAgo = integer({ min: 0, max: 10 * 24 })
const ask = record({
  shape: integer({ min: 0, max: SHAPES.length - 1 }),
  wire: oneof(
    {
      weight: 6,
      arbitrary: record({
        cacheTtlSecs: constantFrom(30, 1_296_000),
        cacheRefreshTtlSecs: constantFrom(0, 60),
      }),
    },
    constant({ noCache: true }),
    constant({ forceRefresh: true }),
  ),
})
const change = oneof(
  { weight: 4, arbitrary: record({ kind: constant('ingest' as const), hoursAgo }) },
  record({ kind: constant('rollback' as const), hoursAgo: integer({ min: 0, max: 72 }) }),
)
const steps = oneof(
  { weight: 2, arbitrary: record({ kind: constant('change' as const), change }) },
  { weight: 4, arbitrary: record({ kind: constant('ask' as const), ask }) },
  // What is asked while a batch is stored: its facts are there, and it may yet be taken back.
  record({ kind: constant('during' as const), hoursAgo, asks: array(ask, { minLength: 1, maxLength: 2 }) }),
  // What changes between the readings of one computation.
  record({ kind: constant('between' as const), ask, change, isForced: boolean() }),
  record({ kind: constant('wait' as const), ms: constantFrom(1000, 61_000, HOUR_MS, 5 * HOUR_MS) }),
)

describe('answers of a real engine', () => {
  let facts: TestEngine
  let database: TestDatabase
  beforeAll(async () => {
    facts = await startTestEngine()
    database = await openSqlite()
  })
  afterAll(async () => {
    await database.close()
    await facts.stop()
  })

  it.each([
    ['read from the engine', 6],
    ['with buckets in memory', 6],
  ])(
    '%s, are of one state of the data, no older than the policy allows, and equal to fresh ones bit for bit (CA-2, CA-4, CA-6)',
    async (how, numRuns) => {
      await assert(
        asyncProperty(array(steps, { minLength: 8, maxLength: 16, size: 'max' }), async (script) => {
          const world = await openWorld(facts, database, how === 'with buckets in memory')
          for (const step of script) {
            if (step.kind === 'wait') world.wait(step.ms)
            else if (step.kind === 'change') await world.change(step.change)
            else if (step.kind === 'ask') await world.ask(step.ask)
            else if (step.kind === 'during') {
              world.onStored(async () => {
                for (const each of step.asks) await world.ask(each)
              })
              await world.change({ kind: 'ingest', hoursAgo: step.hoursAgo })
            } else {
              world.onRead(() => world.change(step.change))
              await world.ask(step.isForced ? { ...step.ask, wire: { forceRefresh: true } } : step.ask)
              world.onRead(null)
            }
          }
          await world.close()
        }),
        { numRuns, endOnFailure: true },
      )
    },
    240_000,
  )
})

type Ask = { readonly shape: number; readonly wire: object }
type Change = { readonly kind: 'ingest' | 'rollback'; readonly hoursAgo: number }

/** A project with its write path and cache, and what each of its states answers without any cache. */
async function openWorld(facts: TestEngine, database: TestDatabase, hasMemory: boolean) {
  const clock = createManualClock(Date.UTC(2026, 2, 10, 5))
  const startMs = clock.now()
  const project = await createTestProject(database)
  const owner = { projectId: project.id, version: 1 }
  const store = createDataVersionStore(database.db)
  const source = createSeriesSource(facts.engine)
  let stored: (() => Promise<void>) | null = null
  let read: (() => Promise<void>) | null = null
  const ingest: Ingest = startInstance({
    engine: facts.engine,
    database,
    wrapFacts: (inner) => ({
      ...inner,
      write: async (version, batches) => {
        await inner.write(version, batches)
        const work = stored
        stored = null
        isStoring = true
        await work?.()
        isStoring = false
      },
    }),
  })
  const asked = hasMemory
    ? createRememberedSeries({
        source,
        buckets: createBucketSource(facts.engine),
        changes: createNameChangesStore(database.db),
        clock,
      })
    : source
  const disturbed: SeriesSource = {
    read: async (plan, signal) => {
      const reading = await asked.read(plan, signal)
      const work = read
      read = null
      await work?.()
      return reading
    },
  }
  const { cached, settled } = openReads(disturbed, database, clock)
  /** The answers of each state to the questions about fixed times. */
  const states = new Map<number, readonly string[]>()
  let sent = 0
  let isStoring = false

  async function fresh(shape: number, anchorMs: number, nowMs: number): Promise<string> {
    const run = createRunRangeQuery({ source, clock: { ...clock, now: () => nowMs }, cache: noCache(nowMs) })
    return textOf(
      await run(project, parseRangeQuery(requestOf(shape, anchorMs)), parseCachePolicy({}), NEVER),
    )
  }
  async function note(): Promise<void> {
    const { latest } = await store.current(owner)
    states.set(latest, await Promise.all(SHAPES.map((_, shape) => fresh(shape, startMs, startMs))))
  }
  async function change({ kind, hoursAgo }: Change): Promise<void> {
    const atMs = clock.now() - hoursAgo * HOUR_MS
    if (kind === 'rollback') {
      await ingest.rollBack(project, { chain: '1', blockNumber: Math.floor(atMs / HOUR_MS), version: null })
    } else await ingest.accept(project, jsonBatch(recordsAt(atMs, sent++)))
    await note()
  }

  await ingest.accept(
    project,
    jsonBatch(
      Array.from({ length: 60 }, (_, i) => recordsAt(startMs - (240 - 4 * i) * HOUR_MS, sent++)).flat(),
    ),
  )
  await note()
  return {
    change,
    wait: (ms: number) => {
      clock.advance(ms)
    },
    onStored: (work: () => Promise<void>) => {
      stored = work
    },
    onRead: (work: (() => Promise<void>) | null) => {
      read = work
    },
    async ask({ shape, wire }: Ask): Promise<void> {
      const isRelative = shape === SHAPES.length - 1
      const policy = parseCachePolicy(wire)
      const { answer, stats } = await cached(
        project,
        parseRangeQuery(requestOf(shape, startMs)),
        policy,
        NEVER,
      )
      const { computedAt, isCached, details } = stats
      if (isCached) expect(clock.now() - computedAt).toBeLessThanOrEqual(policy.ttlSeconds * 1000)
      else expect(computedAt).toBe(clock.now())
      const version = details?.dataVersion ?? -1
      if (!isRelative) expect(textOf({ answer })).toBe(states.get(version)?.[shape])
      else if (version === (await store.current(owner)).latest && !isStoring) {
        expect(textOf({ answer })).toBe(await fresh(shape, startMs, computedAt))
      }
      await settled()
    },
    async close(): Promise<void> {
      await ingest.stop()
    },
  }
}

const NEVER = new AbortController().signal

function requestOf(shape: number, anchorMs: number): QueryRangeRequest {
  const request = SHAPES[shape]?.(anchorMs)
  if (!request) throw new Error(`no shape ${shape}`)
  return request
}

function textOf({ answer }: Pick<Awaited<ReturnType<RunRangeQuery>>, 'answer'>): string {
  return JSON.stringify(plain(answer))
}

/** A record of each metric at a time; its block is the hour. Most are fractions, whose sums a double would round. */
function recordsAt(atMs: number, n: number): object[] {
  const place = { chain: '1', blockNumber: Math.floor(atMs / HOUR_MS), timestampMicros: atMs * 1000 + n }
  return [
    { type: 'gauge', name: 'a', value: n * 1.1, labels: { pool: String(n % 3) }, ...place },
    { type: 'gauge', name: 'b', value: (n % 7) / 3, ...place },
    { type: 'counter', name: 'c', value: (n % 5) / 8, ...place },
    { type: 'gauge', name: 'd', value: (n % 11) / 8, ...place },
    { type: 'gauge', name: 'e', value: (n % 13) / 7, ...place },
    { type: 'counter', name: 'f', value: (n % 17) / 9, ...place },
  ]
}

function openReads(source: SeriesSource, { db }: TestDatabase, clock: ManualClock) {
  const store = createDataVersionStore(db)
  const versions = createDataVersions({ store, clock, maxAgeMs: 0 })
  const sleep = () => Promise.resolve()
  const cache = createResultCache({
    store: createResultStore(db),
    versions,
    views: createReadViews({ store, versions, clock, sleep }),
    clock,
    sleep,
    log: silentLogger,
  })
  const points = createPointMemory({ memory: createFairMemory(8 * 2 ** 20), changes: store })
  return { cached: createRunRangeQuery({ source, clock, cache, points }), settled: cache.settled }
}
