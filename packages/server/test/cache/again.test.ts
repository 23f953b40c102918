import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { parseRangeQuery } from '../../src/metrics/range-query.ts'
import { createRunRangeQuery } from '../../src/metrics/run-range-query.ts'
import type { SeriesSource } from '../../src/metrics/series-source.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createTestProject } from '../ingest/instance.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { openTestCache } from './test-cache.ts'

const HOUR_MS = 3_600_000

let database: TestDatabase
beforeEach(async () => {
  database = await openSqlite()
})
afterEach(() => database.close())

/** A metric that has no series. */
const source: SeriesSource = {
  read: () =>
    Promise.resolve({
      series: [],
      report: {
        knownSeries: 0,
        matchedSeries: 0,
        hasLabel: () => false,
        rollups: [],
        samplesRead: 0,
        samplesInRollups: 0,
        estimatedRows: null,
      },
    }),
}

it('gives no answer again for a range that has no beginning before its end any more (TR-4)', async () => {
  const clock = createManualClock(Date.UTC(2026, 2, 1))
  const cache = openTestCache({ db: database.db, clock, log: silentLogger, lookMaxAgeMs: 24 * HOUR_MS })
  const run = createRunRangeQuery({ source, clock, cache: { through: cache.ask } })
  const project = await createTestProject(database)
  const timeRange = { start: 'now-1h', end: clock.now() + HOUR_MS, step: 60 }
  const query = parseRangeQuery({ queries: [{ query: 'a' }], timeRange })
  const policy = parseCachePolicy({ cacheRefreshTtlSecs: 86_400 })
  const ask = () => run(project, query, policy, new AbortController().signal)

  await ask()
  const { cached, stats } = await ask()
  expect(stats.isCached).toBe(true)
  expect(cached?.again()).toMatchObject({ stats: { isCached: true } })
  clock.advance(2 * HOUR_MS)
  expect(cached?.again()).toMatchObject({ stats: { isCached: true } })
  clock.advance(1)
  expect(cached?.again()).toBeNull()
  await expect(ask()).rejects.toMatchObject({ code: 'invalid_argument' })
  await cache.settled()
})
