import type { QueryRangeRequest } from '@millrace/contract'
import type { Sample } from './samples.ts'

/**
 * A script tests queries in a few words; docs/metrics.md is written in it. Times and lengths are counted from midnight,
 * 2026-03-01 in UTC, as `0`, `90m`, `1d12h`. Lines:
 *
 * - `load gauge price{token="A"} 0=5 90m=7`: samples of a series, `time=value`.
 * - `eval price{token="A"} | rollup_avg(1h) | topk(2) | sum by (token) from 0 to 4h step 1h zone Asia/Kathmandu`. Several
 *   queries are named `a: …; b: …; = a - b`, and the formula alone is shown.
 * - `expect {token="A"} 5 - 7`: a series of the answer, `-` where it has no point; without `expect` for each series the
 *   script fails. `expect error …` and `expect warning …` name a part of the message. `expect nothing`: no series.
 */
export interface QueryScript {
  readonly samples: readonly Omit<Sample, 'ordinal' | 'blockNumber'>[]
  readonly evaluations: readonly Evaluation[]
}

export interface Evaluation {
  readonly line: string
  readonly request: QueryRangeRequest
  readonly series: Readonly<Record<string, string>>
  readonly error: string | null
  readonly warning: string | null
}

/** The instant that the times of a script are counted from, epoch seconds. */
export const SCRIPT_START = Date.UTC(2026, 2, 1) / 1000
const UNIT_SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 }

/** Reads a script; throws with the line that is none of the language. */
export function parseQueryScript(text: string): QueryScript {
  const samples: Omit<Sample, 'ordinal' | 'blockNumber'>[] = []
  const evaluations: {
    line: string
    request: QueryRangeRequest
    series: Record<string, string>
    error: string | null
    warning: string | null
  }[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [, verb, rest = ''] = /^(load|eval|expect)\s+(.*)$/.exec(line) ?? []
    const evaluation = evaluations.at(-1)
    if (verb === 'load') samples.push(...parseLoad(rest))
    else if (verb === 'eval') {
      evaluations.push({ line, request: parseEval(rest), series: {}, error: null, warning: null })
    } else if (verb === 'expect' && evaluation) {
      const [, kind, message] = /^(error|warning) (.*)$/.exec(rest) ?? []
      if (kind === 'error') evaluation.error = message ?? ''
      else if (kind === 'warning') evaluation.warning = message ?? ''
      else if (rest !== 'nothing') {
        const [, labels = '', values = ''] = /^(?:\{(.*?)\} )?(.*)$/.exec(rest) ?? []
        evaluation.series[labels] = values.replaceAll(/\s+/g, ' ')
      }
    } else throw new Error(`Not a line of a script: ${line}`)
  }
  return { samples, evaluations }
}

function parseLoad(text: string): Omit<Sample, 'ordinal' | 'blockNumber'>[] {
  const match = /^(gauge|counter) (\w+)(?:\{(.*?)\})?((?: \S+=\S+)+)$/.exec(text)
  if (!match) throw new Error(`Not samples: ${text}`)
  const [, type, metric = '', labels = '', values = ''] = match
  return values
    .trim()
    .split(' ')
    .map((each) => {
      const [time = '', value = ''] = each.split('=')
      return {
        metric,
        type: type as Sample['type'],
        labels: parseLabels(labels),
        timestampMicros: (SCRIPT_START + seconds(time)) * 1_000_000,
        value: Number(value),
      }
    })
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="(.*?)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

function seconds(text: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+)([dhms])/g)]
  if (parts.map(([part]) => part).join('') !== text.replace('-', '')) throw new Error(`Not a time: ${text}`)
  const total = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0),
    0,
  )
  return text.startsWith('-') ? -total : total
}

function parseEval(text: string): QueryRangeRequest {
  const match = /^(.*) from (\S+) to (\S+) step (\S+)(?: zone (\S+))?$/.exec(text)
  if (!match) throw new Error(`Not an evaluation: ${text}`)
  const [, what = '', start = '', end = '', step = '', timezone = 'UTC'] = match
  const parts = what.split(';').map((each) => each.trim())
  const formula = parts.find((each) => each.startsWith('='))
  const queries = parts
    .filter((each) => each !== formula)
    .map((each) => {
      const [, id = 'a', query = ''] = /^(?:(\w+): )?(.*)$/.exec(each) ?? []
      return { id, disabled: formula !== undefined, ...parseQuery(query) }
    })
  const range = { start: (SCRIPT_START + seconds(start)) * 1000, end: (SCRIPT_START + seconds(end)) * 1000 }
  return {
    timeRange: { ...range, step: seconds(step), timezone },
    queries,
    formulas: formula === undefined ? [] : [{ expression: formula.slice(1).trim() }],
  }
}

function parseQuery(text: string) {
  const [selector = '', ...stages] = text.split(/\|(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((each) => each.trim())
  const [, query = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? []
  const functions: { name: string; arguments: object[] }[] = []
  let aggregate: { op: string; grouping: string[] } | undefined
  for (const stage of stages) {
    const [, op, , grouping = ''] = /^(sum|avg|min|max|count)( by \((.*)\))?$/.exec(stage) ?? []
    if (op) {
      aggregate = {
        op: op.toUpperCase(),
        grouping: grouping
          .split(',')
          .map((each) => each.trim())
          .filter(Boolean),
      }
      continue
    }
    const [, name = '', given = ''] = /^(\w+)\((.*)\)$/.exec(stage) ?? []
    functions.push({
      name,
      arguments: given === '' ? [] : given.split(',').map((each) => argument(each.trim())),
    })
  }
  return { query, labelSelector: parseLabels(labels), functions, ...(aggregate ? { aggregate } : {}) }
}

/** `1d` is a length, `5` an integer, `0.5` a number. */
function argument(text: string): object {
  const [, value, unit] = /^(\d+)([a-zA-Z]+)$/.exec(text) ?? []
  if (unit !== undefined) return { durationValue: { value: Number(value), unit } }
  return Number.isInteger(Number(text)) ? { intValue: Number(text) } : { doubleValue: Number(text) }
}
