import { setImmediate } from 'node:timers/promises'
import type { Cached, CachePolicy, Question } from '../../src/cache/cache-policy.ts'
import { createClaims, type Repeat } from '../../src/cache/claims.ts'
import { createDataVersions, type DataVersions } from '../../src/cache/data-versions.ts'
import { createReadViews } from '../../src/cache/read-view.ts'
import {
  createResultCache,
  type ResultCacheOptions,
  type RunningResultCache,
} from '../../src/cache/result-cache.ts'
import { createDataVersionStore } from '../../src/database/data-version-store.ts'
import type { DataVersionStore } from '../../src/cache/data-version-store.ts'
import type { ControlDatabase } from '../../src/database/database.ts'
import { createFlightStore } from '../../src/database/flight-store.ts'
import { createResultStore } from '../../src/database/result-store.ts'

/** A cache over a control database, which can also be asked by key alone. */
export interface TestCache extends Pick<RunningResultCache, 'settled'> {
  readonly versions: DataVersions
  ask<Value>(question: Question<Value>, policy: CachePolicy): Promise<Cached<Value>>
  /** An answer that depends on the time at which it is computed, and on no data. */
  through<Value>(key: string, policy: CachePolicy, compute: () => Promise<Value>): Promise<Cached<Value>>
}

export interface TestCacheOptions extends Pick<ResultCacheOptions, 'clock' | 'log' | 'limits'> {
  readonly db: ControlDatabase
  readonly store?: ResultCacheOptions['store']
  readonly dataVersions?: DataVersionStore
  /** Has claims renewed; never by default. */
  readonly repeat?: Repeat
  /** Set where several instances share the database. */
  readonly instance?: string
  /** How long a look at the data versions is good for; not at all by default. */
  readonly lookMaxAgeMs?: number
}

export function openTestCache({
  db,
  clock,
  log,
  instance,
  dataVersions,
  lookMaxAgeMs = 0,
  repeat = () => () => undefined,
  ...given
}: TestCacheOptions): TestCache {
  const dataVersionStore = dataVersions ?? createDataVersionStore(db)
  const versions = createDataVersions({ store: dataVersionStore, clock, maxAgeMs: lookMaxAgeMs })
  const sleep = () => setImmediate()
  const cache = createResultCache({
    store: createResultStore(db),
    versions,
    views: createReadViews({ store: dataVersionStore, versions, clock, sleep }),
    ...(instance === undefined
      ? {}
      : { claims: createClaims({ store: createFlightStore(db), owner: instance, clock, repeat, log }) }),
    clock,
    log,
    sleep,
    ...given,
  })
  return {
    versions,
    settled: cache.settled,
    ask: cache.through,
    through: (key, policy, compute) =>
      cache.through(
        {
          key,
          owner: { projectId: 1, version: 1 },
          scope: (nowMs) => ({
            coverage: { names: [], fromMicros: null, toMicros: null },
            signature: String(nowMs),
          }),
          compute,
        },
        policy,
      ),
  }
}
