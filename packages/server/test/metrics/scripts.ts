import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../house/sources.ts'
import { parseQueryScript, SCRIPT_START, type Evaluation, type QueryScript } from './query-script.ts'

/** The moment at which scripts are evaluated, epoch milliseconds. */
export const SCRIPT_NOW = (SCRIPT_START + 60 * 86_400) * 1000

/** A script of a page, with the heading that it stands under. */
export interface PageScript {
  readonly page: string
  readonly title: string
  readonly script: QueryScript
  /** Makes the names of its metrics its own, so that all scripts share one project. */
  readonly suffix: string
}

/** The page that users read. */
export const GUIDE = 'docs/metrics.md'
const PAGES = [GUIDE, ...globSync('packages/server/test/metrics/corpus/*.md', { cwd: ROOT }).toSorted()]

/** All scripts of all pages. */
export const SCRIPTS: readonly PageScript[] = PAGES.flatMap((page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/```query\n([\s\S]*?)```/g)].map((match) => {
    const title = [...text.slice(0, match.index).matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? ''
    return { page, title, script: parseQueryScript(match[1] ?? '') }
  })
}).map((each, index) => ({ ...each, suffix: `_s${index}` }))

/** The request of an evaluation, of the metrics of its script. */
export function requestOf({ request }: Evaluation, { suffix }: PageScript) {
  return {
    ...request,
    queries: (request.queries ?? []).map((each) => ({ ...each, query: `${each.query}${suffix}` })),
  }
}

/** An answer as far as scripts speak of it. */
export interface ScriptAnswer {
  readonly error: string | null
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly displayName: string
    readonly values: readonly (number | null)[]
  }[]
  readonly warnings: readonly string[]
  readonly stepSeconds: number | null
}

/** Fails where an answer is not what the evaluation expects. */
export function expectAnswer(evaluation: Evaluation, answer: ScriptAnswer, plan: string): void {
  const { line, series, isOrdered, names, error, warnings, stepSeconds } = evaluation
  const shown = answer.series.map(
    ({ labels, values }) =>
      [
        Object.entries(labels)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, value]) => `${name}="${value}"`)
          .join(', '),
        values.map((value) => (value === null ? '-' : String(Number(value.toPrecision(10))))).join(' '),
      ] as const,
  )
  const inOrder = (pairs: typeof series) =>
    isOrdered ? pairs : pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))
  expect({
    plan,
    line,
    error: answer.error,
    series: inOrder(shown),
    warnings: answer.warnings.length === warnings.length ? answer.warnings.join('\n') : answer.warnings,
    names: names.length === 0 ? [] : answer.series.map(({ displayName }) => displayName),
    stepSeconds: stepSeconds === null ? null : answer.stepSeconds,
  }).toEqual({
    plan,
    line,
    error: error === null ? null : expect.stringContaining(error),
    series: inOrder(series),
    warnings: warnings.length === 0 ? '' : expect.stringContaining(warnings[0] ?? ''),
    names,
    stepSeconds,
  })
  for (const warning of warnings) expect(answer.warnings.join('\n')).toContain(warning)
}
