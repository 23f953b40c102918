import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type Answer, type TestService } from '../support/service.ts'
import type { Evaluation, ScriptSample } from './query-script.ts'
import { expectAnswer, requestOf, SCRIPTS, type PageScript, type ScriptAnswer } from './scripts.ts'

/** Samples above this block are taken back. */
const FIRST_TAKEN_BACK = 1_000_000

/** A series that has each point of the grid: answers leave out those that are none. */
const GRID = { id: 'grid', expression: '0' }

interface NamedSample extends ScriptSample {
  readonly ordinal: number
}

/**
 * What a service has been told when, by the name of the project that it is told about. Everything is asked after each part, so that
 * whatever it keeps (answers, series, rollups, what is in memory) is kept from before the next one.
 */
const HISTORIES = {
  'told at once': (samples: readonly NamedSample[]) => [samples],
  'told of its newest last': (samples: readonly NamedSample[]) => {
    const ordered = samples.toSorted((a, b) => a.timestampMicros - b.timestampMicros)
    const middle = Math.floor(ordered.length / 2)
    return [ordered.slice(0, middle), ordered.slice(middle)]
  },
  'told of half of it late': (samples: readonly NamedSample[]) => [
    samples.filter((_, i) => i % 2 === 1),
    samples.filter((_, i) => i % 2 === 0),
  ],
} as const
const NAMES = Object.keys(HISTORIES) as (keyof typeof HISTORIES)[]

/** Scripts whose samples are told by version 1 and at times that do not depend on now, as far as HTTP can say them. */
const ASKED = SCRIPTS.map((each) => ({
  ...each,
  samples: each.script.samples.filter(({ version, value }) => version === 1 && Number.isFinite(value)),
  evaluations: each.script.evaluations.filter(
    ({ request, line }) => !line.includes('now') && !line.includes('"-') && (request.version ?? 1) <= 1,
  ),
})).filter(({ evaluations }) => evaluations.length > 0)

describe('the query scripts over HTTP', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    for (const name of NAMES) await tell(name)
  }, 180_000)
  afterAll(() => service.stop())

  const projectOf = (name: (typeof NAMES)[number]) => `p${NAMES.indexOf(name)}`

  async function tell(name: (typeof NAMES)[number]) {
    const project = projectOf(name)
    await service.post('/projects', { owner: 'demo', name: project })
    const all = ASKED.flatMap(({ samples, suffix }) => {
      const named = samples.map((sample, ordinal) => ({ ...sample, metric: sample.metric + suffix, ordinal }))
      return HISTORIES[name](named).map((part, index) => ({ part, index }))
    })
    const parts = Math.max(...all.map(({ index }) => index + 1))
    for (let index = 0; index < parts; index += 1) {
      await ingest(
        project,
        all.filter((each) => each.index === index).flatMap(({ part }) => part),
      )
      if (index + 1 < parts) await forEach((script, evaluation) => ask(project, script, evaluation, {}))
    }
  }

  /** Stores samples, and such as are taken back at once. */
  async function ingest(project: string, samples: readonly NamedSample[]) {
    const records = samples.map(({ metric, type, labels, timestampMicros, value, ordinal }) => {
      const { chain = '', contract_name: contract, ...others } = labels
      const place = { chain, blockNumber: ordinal, timestampMicros, ...(contract ? { contract } : {}) }
      return { type, name: metric, value, labels: others, ...place }
    })
    const wrong = records.map((record) => ({
      ...record,
      value: -1e6,
      blockNumber: FIRST_TAKEN_BACK + record.blockNumber,
    }))
    for (const batch of [records, wrong]) {
      for (let at = 0; at < batch.length; at += 20_000) {
        const { status, body } = await service.post(`/ingest/demo/${project}/batch`, {
          records: batch.slice(at, at + 20_000),
        })
        expect(status, body.message).toBe(200)
      }
    }
    for (const chain of new Set(records.map((record) => record.chain))) {
      const { status } = await service.post(`/ingest/demo/${project}/rollback`, {
        chain,
        blockNumber: FIRST_TAKEN_BACK - 1,
      })
      expect(status).toBe(200)
    }
  }

  /** The evaluations of one script at a time, all of it together. */
  async function forEach(run: (script: PageScript, evaluation: Evaluation) => Promise<unknown>) {
    for (const script of ASKED) {
      await Promise.all(script.evaluations.map((evaluation) => run(script, evaluation)))
    }
  }

  async function ask(project: string, script: PageScript, evaluation: Evaluation, cachePolicy: object) {
    const { timeRange, formulas = [], ...others } = requestOf(evaluation, script)
    // The answer of a request with a limit or an offset has a grid too.
    const rest = { ...others, formulas: [...formulas, GRID] }
    const { start: time, timezone } = timeRange
    const answer = evaluation.isInstant
      ? await service.post(`/metrics/demo/${project}/query`, { ...rest, time, timezone, cachePolicy })
      : await service.post(`/metrics/demo/${project}/query_range`, { ...rest, timeRange, cachePolicy })
    return { answer: readAnswer(answer), stats: answer.body.results?.at(-1)?.computeStats }
  }

  it.each(NAMES)(
    'hold for a project that was %s, computed and kept',
    async (name) => {
      const project = projectOf(name)
      await forEach(async (script, evaluation) => {
        const computed = await ask(project, script, evaluation, { forceRefresh: true })
        expectAnswer(evaluation, computed.answer, `${name}, computed`)
        // What was answered before an error goes on being served (CA-4).
        if (evaluation.error !== null) return
        const kept = await ask(project, script, evaluation, {})
        expectAnswer(evaluation, kept.answer, `${name}, kept`)
        expect(kept.stats.isCached).toBe(true)
      })
    },
    180_000,
  )

  it('hold after a restart', async () => {
    await service.restart()
    const project = projectOf('told at once')
    await forEach(async (script, evaluation) => {
      const kept = await ask(project, script, evaluation, {})
      expectAnswer(evaluation, kept.answer, 'restarted, kept')
      const computed = await ask(project, script, evaluation, { noCache: true })
      expectAnswer(evaluation, computed.answer, 'restarted, computed')
    })
  }, 180_000)
})

/** Points at their places, which the formula {@link GRID} shows. */
function readAnswer({ status, body }: Answer): ScriptAnswer {
  if (status !== 200) return { error: body.message, series: [], warnings: [], stepSeconds: null }
  const [result, grid] = body.results.slice(-2)
  type Sample = {
    metric: { labels: Record<string, string>; displayName: string }
    values: { timestamp: string; value: number }[]
  }
  const samplesOf = ({ sample, matrix }: { sample?: Sample[]; matrix?: { samples: Sample[] } }) =>
    sample ?? matrix?.samples ?? []
  // An offset leaves out the grid too.
  const shown = samplesOf(grid)[0] ?? samplesOf(result)[0]
  const places = shown?.values.map(({ timestamp }) => timestamp) ?? []
  return {
    error: result.error ?? null,
    warnings: body.warnings,
    stepSeconds: body.timeRange?.step ?? null,
    series: samplesOf(result).map(({ metric, values }) => {
      const byTime = new Map(values.map(({ timestamp, value }) => [timestamp, value]))
      return { ...metric, values: places.map((place) => byTime.get(place) ?? null) }
    }),
  }
}
