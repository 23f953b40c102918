import {
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  oneof,
  record,
  array,
  constant,
} from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cached, Question } from '../../src/cache/cache-policy.ts'
import { createChangeCollector } from '../../src/cache/data-change.ts'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import { raiseDataVersions, raiseForRollback } from '../../src/database/raise-data-versions.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { openTestCache, type TestCache } from './test-cache.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const NAMES = ['a', 'b'] as const

/** A fact: what a query counts. Its block is the hour. */
interface Fact {
  readonly name: string
  readonly atMs: number
}

const names = constantFrom(...NAMES)
const instances = integer({ min: 0, max: 2 })
/** A range that slides, one that is over, and one between fixed times that ends later: new data at its open end makes it due by age alone. */
const spans = constantFrom('sliding', 'over', 'ending later')
const policies = record({
  cacheTtlSecs: constantFrom(5, 600, 1_296_000),
  cacheRefreshTtlSecs: constantFrom(0, 30, 100_000, 100_000),
})
const steps = oneof(
  {
    weight: 4,
    arbitrary: record({
      kind: constant('ingest' as const),
      name: names,
      // Half of the data are new, behind what is there already; the others late.
      hoursAgo: oneof(constant(0), integer({ min: 0, max: 96 })),
    }),
  },
  record({ kind: constant('rollback' as const), hoursAgo: integer({ min: 0, max: 96 }) }),
  // As often as data come: what changes at the moment of an answer may be in it or not.
  {
    weight: 4,
    arbitrary: record({ kind: constant('wait' as const), ms: constantFrom(1, 1000, 31_000, 700_000) }),
  },
  {
    weight: 6,
    arbitrary: record({
      kind: constant('ask' as const),
      instance: instances,
      name: names,
      span: spans,
      wire: policies,
      fails: integer({ min: 0, max: 9 }).map((n) => n === 0),
      settles: boolean(),
    }),
  },
  record({ kind: constant('restart' as const), instance: instances }),
)

const ASK_RANGE_THAT_ENDS_LATER = {
  kind: 'ask',
  instance: 0,
  name: 'a',
  span: 'ending later',
  wire: { cacheTtlSecs: 1_296_000, cacheRefreshTtlSecs: 30 },
  fails: false,
  settles: true,
} as const
const NEW_DATA = { kind: 'ingest', name: 'a', hoursAgo: 0 } as const

/** Seldom found by chance: new data that are not late, within a range that its refresh could take for unchanged. */
const RENEWED_WHILE_DATA_CAME = [
  NEW_DATA,
  ASK_RANGE_THAT_ENDS_LATER,
  { kind: 'wait', ms: 1000 },
  NEW_DATA,
  { kind: 'wait', ms: 31_000 },
  ASK_RANGE_THAT_ENDS_LATER,
  { kind: 'wait', ms: 1 },
  ASK_RANGE_THAT_ENDS_LATER,
] as const

/** The least that an answer may be, and what it may be: kept by the test, step by step, without any cache. */
class World {
  readonly facts: Fact[] = []
  /** Each state that a name had, with the time at which it began. */
  readonly history: { readonly atMs: number; readonly facts: readonly Fact[] }[] = []

  note(atMs: number): void {
    this.history.push({ atMs, facts: [...this.facts] })
  }
}

describe.each(controlDatabases)('instances that share a cache on $name', ({ name, open }) => {
  let database: TestDatabase
  let runs = 0
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  it('never answer with what is older than the policy allows, and when nothing has changed answer as if computed anew (CA-2, CA-4, CA-6)', async () => {
    await assert(
      asyncProperty(array(steps, { minLength: 15, maxLength: 40, size: 'max' }), async (script) => {
        runs += 1
        const clock = createManualClock()
        const startMs = clock.now()
        const project = await createProjectStore(database.db).insert(
          { owner: 'o', name: `p${runs}`, type: 'processor', isPublic: false },
          0,
        )
        const owner = { projectId: project?.id ?? 0, version: 1 }
        const openInstance = (n: number): TestCache =>
          openTestCache({ db: database.db, clock, log: { warn: () => undefined }, instance: `${runs}-${n}` })
        const caches = [0, 1, 2].map(openInstance)
        const world = new World()
        world.note(clock.now())
        for (const step of script) {
          switch (step.kind) {
            case 'wait':
              clock.advance(step.ms)
              break
            case 'ingest': {
              const atMs = clock.now() - step.hoursAgo * HOUR_MS
              const collector = createChangeCollector()
              collector.add(step.name, '1', atMs * 1000, Math.floor(atMs / HOUR_MS))
              world.facts.push({ name: step.name, atMs })
              world.note(clock.now())
              await database.db
                .transaction()
                .execute((tx) => raiseDataVersions(tx, owner, collector.changes()))
              break
            }
            case 'rollback': {
              const aboveBlock = Math.floor((clock.now() - step.hoursAgo * HOUR_MS) / HOUR_MS)
              const kept = world.facts.filter(({ atMs }) => Math.floor(atMs / HOUR_MS) <= aboveBlock)
              world.facts.splice(0, world.facts.length, ...kept)
              world.note(clock.now())
              await database.db
                .transaction()
                .execute((tx) => raiseForRollback(tx, owner, { chain: '1', aboveBlock }))
              break
            }
            case 'restart':
              await caches[step.instance]?.settled()
              caches[step.instance] = openInstance(step.instance)
              break
            case 'ask': {
              const cache = caches[step.instance]
              if (!cache) throw new Error('no such instance')
              const range = (nowMs: number) =>
                step.span === 'sliding'
                  ? { from: nowMs - 2 * DAY_MS, to: nowMs }
                  : { from: startMs - 3 * DAY_MS, to: startMs + (step.span === 'over' ? -1 : 1) * DAY_MS }
              const question: Question<string> = {
                key: JSON.stringify([runs, step.name, step.span]),
                owner,
                scope: (nowMs) => {
                  const { from, to } = range(nowMs)
                  return {
                    coverage: { names: [step.name], fromMicros: from * 1000, toMicros: to * 1000 },
                    signature: `${from} ${to}`,
                  }
                },
                compute: (nowMs) =>
                  step.fails
                    ? Promise.reject(new Error('the engine is away'))
                    : Promise.resolve(render(world.facts, step.name, range(nowMs))),
              }
              const policy = parseCachePolicy(step.wire)
              let answer: Cached<string> | null = null
              try {
                answer = await cache.ask(question, policy)
              } catch {
                // A miss whose computation failed.
                expect(step.fails).toBe(true)
              }
              if (answer) check(answer, step, world, range, clock)
              if (step.settles) await Promise.all(caches.map((each) => each.settled()))
              break
            }
          }
        }
        await Promise.all(caches.map((each) => each.settled()))
      }),
      { numRuns: name === 'postgres' ? 6 : 30, examples: [[[...RENEWED_WHILE_DATA_CAME]]] },
    )
  }, 120_000)
})

function render(facts: readonly Fact[], name: string, { from, to }: { from: number; to: number }): string {
  const inside = facts.filter((fact) => fact.name === name && fact.atMs >= from && fact.atMs <= to)
  return JSON.stringify([from, to, inside.map(({ atMs }) => atMs).toSorted((a, b) => a - b)])
}

function check(
  { value, stats }: Cached<string>,
  { name, wire }: { readonly name: string; readonly wire: { readonly cacheTtlSecs: number } },
  world: World,
  range: (nowMs: number) => { from: number; to: number },
  clock: ManualClock,
): void {
  const ageMs = clock.now() - stats.computedAt
  expect(ageMs).toBeLessThanOrEqual(wire.cacheTtlSecs * 1000)
  // The states that the data had when, or after, it was computed.
  const since = world.history.filter(
    ({ atMs }, index) =>
      atMs >= stats.computedAt || (world.history[index + 1]?.atMs ?? Infinity) >= stats.computedAt,
  )
  const possible = since.map(({ facts }) => render(facts, name, range(stats.computedAt)))
  expect(possible).toContain(value)
  const now = render(world.facts, name, range(stats.computedAt))
  // Who waited for a computation has what it began with.
  const mayWait = !stats.isCached || stats.isRefreshing || stats.details?.failure !== null
  // What is served as not due is the truth, but for new data at an open end.
  if (!mayWait && range(stats.computedAt).to < stats.computedAt) expect(value).toBe(now)
}
