import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SUM } from '../../src/clickhouse/fixed-point.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { cellExpression } from '../../src/clickhouse/series-source-cell.ts'
import { scanSql } from '../../src/clickhouse/series-source-scan.ts'
import { planQuery } from '../../src/metrics/plan-query.ts'
import { parseTimeRange, resolveTimeRange } from '../../src/metrics/time-range.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { storeSamples, testProject } from './samples.ts'

const START = Date.UTC(2026, 5, 1)
const DAY_MS = 86_400_000

describe('hours instead of samples', () => {
  const project = testProject(1)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    const sample = { type: 'gauge', labels: {}, ordinal: 1 } as const
    await storeSamples(
      test.engine,
      project.id,
      Array.from({ length: 600 }, (_, minute) => ({
        ...sample,
        metric: 'price',
        value: minute,
        blockNumber: minute,
        timestampMicros: (START + minute * 60_000) * 1000,
      })),
    )
  })
  afterAll(() => test.stop())

  function plan(name: string, timezone: string, type: 'gauge' | 'counter', step = 3600) {
    const range = { start: START, end: START + 40 * DAY_MS, step, timezone }
    const argument = [{ durationValue: { value: 1, unit: 'd' } }]
    const query = { query: 'price', functions: name === '' ? [] : [{ name, arguments: argument }] }
    const { edges, needs } = planQuery(query, 'query', resolveTimeRange(parseTimeRange(range), START)).read
    const { statistics: columns, needsHistory, needsSamples } = needs[type]
    const cell = cellExpression(edges)
    return scanSql({
      type,
      seriesIds: null,
      edges,
      cell,
      columns,
      needsHistory,
      needsSamples,
      usesHours: true,
      snapshot: null,
    })
  }

  it.each([
    ['', 'UTC', 'gauge'],
    ['', 'America/Los_Angeles', 'counter'],
    ['rollup_sum', 'UTC', 'gauge'],
    ['max_over_time', 'America/Los_Angeles', 'gauge'],
    ['rollup_delta', 'UTC', 'counter'],
    ['increase', 'UTC', 'counter'],
    ['rollup_count', 'UTC', 'gauge'],
  ] as const)('%s in %s of a %s reads no samples, and the engine agrees', async (name, timezone, type) => {
    const { sql, readsSamples } = plan(name, timezone, type)
    expect(readsSamples).toBe(false)
    const read = test.engine.rows(sql, {
      database: versionDatabases(project.id, 1).facts,
      parameters: { metric: 'price' },
      settings: { force_optimize_projection: 1 },
    })
    await expect(read).resolves.toBeInstanceOf(Array)
  })

  it.each([
    ['stddev_over_time', 'UTC', 'gauge'],
    ['rollup_sum', 'UTC', 'counter'],
    ['rollup_sum', 'Asia/Kathmandu', 'gauge'],
    ['increase', 'UTC', 'gauge'],
  ] as const)('%s in %s of a %s reads samples', (name, timezone, type) => {
    expect(plan(name, timezone, type).readsSamples).toBe(true)
  })

  it('reads samples of the hours that days of a half-hour zone begin in, and hours of the rest', () => {
    const { sql } = plan('rollup_sum', 'Asia/Kathmandu', 'gauge', 86_400)
    expect(sql).toContain('union all')
    expect(sql).toContain(SUM.near)
  })
})
