import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTIONS } from '../../src/metrics/functions.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { ROOT } from '../house/sources.ts'
import { parseQueryScript, SCRIPT_START } from './query-script.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { storeSamples, testProject } from './samples.ts'

const PAGES = ['docs/metrics.md', 'packages/server/test/metrics/corpus.md'] as const
const NOW = (SCRIPT_START + 60 * 86_400) * 1000
/** Samples above this block are taken back before anything is asked. */
const FIRST_TAKEN_BACK = 1_000_000

/** The scripts of a page, each with the heading that it stands under. */
function scriptsOf(page: string) {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/```query\n([\s\S]*?)```/g)].map((match, index) => {
    const heading = [...text.slice(0, match.index).matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? ''
    return { page, title: `${heading} (${index + 1})`, script: parseQueryScript(match[1] ?? '') }
  })
}

const SCRIPTS = PAGES.flatMap(scriptsOf).map((each, index) => ({ ...each, suffix: `_s${index}` }))

describe('the scripts of', () => {
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
    const takenBack = samples.map((sample) => ({
      ...sample,
      value: -1e6,
      ordinal: sample.ordinal + 1,
      blockNumber: FIRST_TAKEN_BACK,
    }))
    await storeSamples(test.engine, project.id, [...samples, ...takenBack])
    const { facts } = versionDatabases(project.id, 1)
    await test.engine.command(`delete from ${facts}.points where block_number >= ${FIRST_TAKEN_BACK}`)
  }, 60_000)
  afterAll(() => test.stop())

  it.each(SCRIPTS.map((each) => [each.page, each.title, each] as const))(
    '%s: %s hold by hours and by samples, after a rollback',
    async (_page, _title, { script, suffix }) => {
      expect(script.evaluations.length).toBeGreaterThan(0)
      for (const usesHours of [true, false]) {
        const query = rangeQueries(test.engine, project, NOW, noCache(NOW), { usesHours })
        for (const { line, request, series, error, warning } of script.evaluations) {
          const queries = (request.queries ?? []).map((each) => ({
            ...each,
            query: `${each.query}${suffix}`,
          }))
          const answer = await query({ ...request, queries })
          const result = answer.results[0]
          const shown = (result?.series ?? []).map(({ labels, values }) => [
            Object.entries(labels)
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, value]) => `${name}="${value}"`)
              .join(', '),
            values.map((value) => (value === null ? '-' : String(Number(value.toPrecision(10))))).join(' '),
          ])
          expect({
            line,
            error: result?.error ?? null,
            series: Object.fromEntries(shown),
            warnings: answer.warnings.join('\n'),
          }).toEqual({
            line,
            error: error === null ? null : expect.stringContaining(error),
            series,
            warnings: warning === null ? '' : expect.stringContaining(warning),
          })
        }
      }
    },
  )

  it('docs/metrics.md show every function', () => {
    const evaluated = new Set(
      SCRIPTS.filter(({ page }) => page === 'docs/metrics.md').flatMap(({ script }) =>
        script.evaluations.flatMap(({ request }) =>
          (request.queries ?? []).flatMap(({ functions }) => functions?.map(({ name }) => name ?? '') ?? []),
        ),
      ),
    )
    expect(Object.keys(FUNCTIONS).filter((name) => !evaluated.has(name))).toEqual([])
  })
})
