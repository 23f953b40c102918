import type { QueryRangeAnswer } from '@millrace/contract'
import type { MetricsServiceMetricsQueryResponse } from '@sentio/api'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSeriesSource } from '../../src/clickhouse/series-source.ts'
import { buildApp } from '../../src/http/app.ts'
import { queryInstantRoute } from '../../src/http/routes/query-instant.ts'
import { createRangeRenderer } from '../../src/http/range-renderer.ts'
import { queryRangeRoute } from '../../src/http/routes/query-range.ts'
import { createRunRangeQuery } from '../../src/metrics/run-range-query.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { noCache } from './range-queries.ts'
import { storeSamples, testProject } from './samples.ts'

const NOW = Date.UTC(2026, 5, 30, 12, 30)
const project = testProject(1)

describe('metrics over HTTP', () => {
  let test: TestEngine
  let app: FastifyInstance

  beforeAll(async () => {
    test = await startTestEngine()
    const sample = { metric: 'price', type: 'gauge', labels: { tokenName: 'WETH' }, blockNumber: 1 } as const
    await storeSamples(test.engine, project.id, [
      { ...sample, ordinal: 1, value: 2.5, timestampMicros: (NOW - 5_400_000) * 1000 },
    ])
    const clock = { now: () => NOW, monotonic: () => 0 }
    const runRangeQuery = createRunRangeQuery({
      source: createSeriesSource(test.engine),
      cache: noCache(NOW),
      clock,
    })
    const renderer = createRangeRenderer({ threadsMax: 0, pointsMin: 0 })
    app = await buildApp({
      log: silentLogger,
      bodyLimitBytes: 100_000,
      routes: [queryRangeRoute({ runRangeQuery, renderer }), queryInstantRoute({ runRangeQuery })],
      access: { check: () => Promise.resolve({ key: null, project }), recall: () => null },
      checkReady: () => Promise.resolve(),
    })
  })
  afterAll(async () => {
    await app.close()
    await test.stop()
  })

  function post(path: string, payload: object) {
    return app.inject({ method: 'POST', url: path, payload })
  }

  const body = {
    timeRange: { start: 'now-2h', end: 'now', step: 3600, timezone: 'UTC' },
    queries: [
      { query: 'price', id: 'a', alias: 'Price of {{tokenName}}', labelSelector: {}, aggregate: null },
      { query: 'price', id: 'b', functions: [{ name: 'nonsense', arguments: [] }] },
    ],
    formulas: [],
    samplesLimit: 20,
  }
  const stats = {
    computedAt: '2026-06-30T12:30:00.000Z',
    computeCostMs: '0',
    isCached: false,
    isRefreshing: false,
  }

  it('answers in camelCase with timestamps in decimal seconds and no empty members (WI-3, WI-4, TR-5)', async () => {
    const answer = await post('/v1/metrics/test/p1/query_range', body)
    expect(answer.statusCode).toBe(200)
    const at = NOW / 1000 - 1800
    expect(answer.json()).toEqual({
      results: [
        {
          id: 'a',
          alias: 'Price of {{tokenName}}',
          matrix: {
            samples: [
              {
                metric: { name: 'price', labels: { tokenName: 'WETH' }, displayName: 'Price of WETH' },
                values: [
                  { timestamp: String(at - 3600), value: 2.5 },
                  { timestamp: String(at), value: 2.5 },
                ],
              },
            ],
            totalSamples: 1,
            totalSeries: 1,
          },
          computeStats: stats,
        },
        { id: 'b', error: expect.stringMatching(/unknown function "nonsense"/), computeStats: stats },
      ],
      timeRange: {
        start: '2026-06-30T10:00:00Z',
        end: '2026-06-30T12:00:00Z',
        step: 3600,
        adjusted: false,
        timezone: 'UTC',
      },
      warnings: [],
    })
  })

  it('adds the names of the interface under /api/v1 alone (WI-3)', async () => {
    const answer = await post('/api/v1/metrics/test/p1/query_range', body)
    expect(answer.json().compute_stats).toEqual({
      computed_at: stats.computedAt,
      is_cached: false,
      is_refreshing: false,
    })
  })

  it('takes snake_case, numbers as text and times as numbers or text (WI-2, TR-1)', async () => {
    const answer = await post('/v1/metrics/test/p1/query_range', {
      time_range: { start: NOW - 7_200_000, end: String(NOW), step: '3600' },
      queries: [{ query: 'price', label_selector: { tokenName: 'WETH' }, functions: null }],
      samples_limit: '20',
      cache_policy: { no_cache: true },
    })
    expect(answer.json().results[0].matrix.samples[0].values).toHaveLength(2)
  })

  it.each([
    [{ timeRange: { ...body.timeRange, start: 'tomorrow' } }, /timeRange.start: "tomorrow" must be now/],
    [{ timeRange: { ...body.timeRange, timezone: 'Mars' } }, /timeRange.timezone/],
    [{ timeRange: { ...body.timeRange, step: 0 } }, /timeRange.step/],
    [{ timeRange: { ...body.timeRange, step: 1.5 } }, /timeRange.step/],
    [{ timeRange: { end: 'now' } }, /timeRange.start is required/],
    [{ timeRange: undefined }, /timeRange is required/],
    [{ queries: 'price' }, /queries must be an array/],
    [{ samplesLimit: -1 }, /samplesLimit/],
    [{ cachePolicy: { noCache: true, forceRefresh: true } }, /exclude each other/],
  ])('refuses %j with 400 and names the field (ER-2)', async (change, message) => {
    const answer = await post('/v1/metrics/test/p1/query_range', { ...body, ...change })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(message)
  })

  it('answers at one time (MQ-10)', async () => {
    const queries = [{ query: 'price' }]
    const answer = await post('/v1/metrics/test/p1/query', { queries, time: 'now-1h' })
    expect(answer.json().results[0].sample).toEqual([
      {
        metric: { name: 'price', labels: { tokenName: 'WETH' }, displayName: 'price{tokenName="WETH"}' },
        values: [{ timestamp: String(NOW / 1000 - 3600), value: 2.5 }],
      },
    ])
    expect(
      (await post('/v1/metrics/test/p1/query', { queries, time: 'now-2h' })).json().results[0].sample,
    ).toEqual([])
  })

  it.each([
    [{ time: 'x' }, /^time: "x" must be now/],
    [{ time: 'now+1h' }, /^time: now/],
    [{ time: -1e15 }, /^time: must lie between/],
    [{ timezone: 'Mars/Phobos' }, /^timezone: "Mars\/Phobos" is not a tz database name/],
  ])('refuses %j for one time with 400 and names the field (ER-2, MQ-10)', async (change, message) => {
    const answer = await post('/v1/metrics/test/p1/query', { queries: [{ query: 'price' }], ...change })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(message)
  })

  it('has the shape that existing clients are typed for', () => {
    const toClient = (answer: QueryRangeAnswer): MetricsServiceMetricsQueryResponse => answer
    expect(toClient).toBeTypeOf('function')
  })
})
