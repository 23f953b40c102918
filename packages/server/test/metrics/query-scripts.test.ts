import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTIONS } from '../../src/metrics/functions.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { ROOT } from '../house/sources.ts'
import { PLAN_LIMITS, PLANS } from './plans.ts'
import type { Evaluation } from './query-script.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { storeSamples, testProject } from './samples.ts'
import {
  expectAnswer,
  GUIDE,
  requestOf,
  SCRIPT_NOW,
  SCRIPTS,
  type PageScript,
  type ScriptAnswer,
} from './scripts.ts'

/** Samples above this block are taken back before anything is asked. */
const FIRST_TAKEN_BACK = 1_000_000

describe('the query scripts', () => {
  const project = testProject(1)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    const samples = SCRIPTS.flatMap(({ script, suffix }) =>
      script.samples.map((sample, ordinal) => ({
        ...sample,
        metric: sample.metric + suffix,
        ordinal,
        blockNumber: ordinal,
      })),
    )
    for (const version of new Set(samples.map((sample) => sample.version))) {
      const own = samples.filter((sample) => sample.version === version)
      const takenBack = own.map((sample) => ({
        ...sample,
        value: -1e6,
        ordinal: sample.ordinal + 1,
        blockNumber: FIRST_TAKEN_BACK,
      }))
      await storeSamples(test.engine, project.id, [...own, ...takenBack], version)
      const { facts } = versionDatabases(project.id, version)
      await test.engine.command(`delete from ${facts}.points where block_number >= ${FIRST_TAKEN_BACK}`)
    }
  }, 120_000)
  afterAll(() => test.stop())

  const ways: Partial<Record<(typeof PLANS)[number], ReturnType<typeof rangeQueries>>> = {}

  async function ask(
    script: PageScript,
    evaluation: Evaluation,
    plan: (typeof PLANS)[number],
  ): Promise<ScriptAnswer> {
    const query = (ways[plan] ??= rangeQueries(
      test.engine,
      project,
      SCRIPT_NOW,
      noCache(SCRIPT_NOW),
      PLAN_LIMITS[plan],
    ))
    try {
      const { results, warnings, stepSeconds } = await query(requestOf(evaluation, script))
      const { error = null, series = [] } =
        results[evaluation.resultIndex === 0 ? 0 : results.length - 1] ?? {}
      return { error, series, warnings, stepSeconds }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { error: error.message, series: [], warnings: [], stepSeconds: null }
    }
  }

  it.each(SCRIPTS.map((each) => [each.page, each.title, each] as const))(
    'of %s: %s hold by each plan, after a rollback',
    async (_page, _title, script) => {
      expect(script.script.evaluations.length).toBeGreaterThan(0)
      for (const plan of PLANS) {
        for (const evaluation of script.script.evaluations) {
          expectAnswer(evaluation, await ask(script, evaluation, plan), plan)
        }
      }
    },
  )

  const functionsOf = (scripts: readonly PageScript[]) =>
    new Set(
      scripts.flatMap(({ script }) =>
        script.evaluations.flatMap(({ request }) =>
          [...(request.queries ?? []), ...(request.formulas ?? [])].flatMap(
            ({ functions }) => functions?.map(({ name }) => name ?? '') ?? [],
          ),
        ),
      ),
    )

  it('show every function to those who read the guide', () => {
    const shown = functionsOf(SCRIPTS.filter(({ page }) => page === GUIDE))
    expect(Object.keys(FUNCTIONS).filter((name) => !shown.has(name))).toEqual([])
  })

  it('have one for every ruling on ranges, queries, functions and formulas', () => {
    const rulings = readFileSync(join(ROOT, 'docs/rulings.md'), 'utf8')
    const ids = [...rulings.matchAll(/^- ((?:TR|MQ|FN|FO)-\d+) /gm)].map(([, id]) => id)
    const shown = SCRIPTS.map(({ title }) => title).join('\n')
    expect(ids.length).toBeGreaterThan(25)
    expect(ids.filter((id) => !new RegExp(`\\b${id}\\b`).test(shown))).toEqual([])
  })
})
