import type { MetricFormula, MetricQuery, QueryRangeRequest } from '@millrace/contract'
import type { Sample } from './samples.ts'

/** A sample of a script; `version` is the processor version that has it. */
export interface ScriptSample extends Omit<Sample, 'ordinal' | 'blockNumber'> {
  readonly version: number
}

/** A test of queries in a few words; corpus/README.md describes the language. */
export interface QueryScript {
  readonly samples: readonly ScriptSample[]
  readonly evaluations: readonly Evaluation[]
}

/** One `eval` line and what it expects. */
export interface Evaluation {
  readonly line: string
  readonly request: QueryRangeRequest
  /** Which of the results is looked at: the formula, or the only query. */
  readonly resultIndex: number
  readonly isInstant: boolean
  /** Values by labels, in the order of the lines; as texts, `-` where there is no point. */
  readonly series: readonly (readonly [labels: string, values: string])[]
  /** Does the order of the series matter? It does where a limit cuts. */
  readonly isOrdered: boolean
  readonly names: readonly string[]
  readonly error: string | null
  readonly warnings: readonly string[]
  readonly stepSeconds: number | null
}

type Draft = { -readonly [Key in keyof Evaluation]: Evaluation[Key] }

/** The instant that the times of a script are counted from, epoch seconds. */
export const SCRIPT_START = Date.UTC(2026, 2, 1) / 1000
const UNIT_SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 }
/** Steps of the calendar, as the interface writes them. */
const CALENDAR_STEPS: Readonly<Record<string, number>> = { '1w': 604_800, '1mo': 2_592_000, '1y': 31_536_000 }

/** Reads a script; throws with the line that is none of the language. */
export function parseQueryScript(text: string): QueryScript {
  const samples: ScriptSample[] = []
  const evaluations: Draft[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [, verb, rest = ''] = /^(load|eval|expect)\s+(.*)$/.exec(line) ?? []
    const evaluation = evaluations.at(-1)
    if (verb === 'load') for (const sample of parseLoad(rest)) samples.push(sample)
    else if (verb === 'eval') evaluations.push(parseEval(line, rest))
    else if (verb === 'expect' && evaluation) parseExpect(evaluation, rest)
    else throw new Error(`Not a line of a script: ${line}`)
  }
  return { samples, evaluations }
}

function parseExpect(evaluation: Draft, text: string): void {
  const [, kind, message = ''] = /^(error|warning|name|step) (.*)$/.exec(text) ?? []
  if (kind === 'error') evaluation.error = message
  else if (kind === 'warning') evaluation.warnings = [...evaluation.warnings, message]
  else if (kind === 'name') evaluation.names = [...evaluation.names, message]
  else if (kind === 'step') evaluation.stepSeconds = stepSeconds(message)
  else if (text !== 'nothing') {
    const [, labels = '', values = ''] = /^(?:\{(.*?)\} )?(.*)$/.exec(text) ?? []
    evaluation.series = [...evaluation.series, [labels, values.replaceAll(/\s+/g, ' ')]]
  }
}

function parseLoad(text: string): ScriptSample[] {
  const match = /^(?:version (\d+) )?(gauge|counter) (\w+)(?:\{(.*?)\})?((?: \S+=\S+)+)$/.exec(text)
  if (!match) throw new Error(`Not samples: ${text}`)
  const [, version = '1', type, metric = '', labels = '', values = ''] = match
  const given = values
    .trim()
    .split(' ')
    .map((each) => each.split('='))
  return seriesOf(labels).flatMap(({ labels, number }) =>
    given.map(([time = '', value = '']) => ({
      version: Number(version),
      metric,
      type: type as Sample['type'],
      labels,
      timestampMicros: Math.round((SCRIPT_START + seconds(time)) * 1_000_000),
      value: value === '#' ? number : Number(value),
    })),
  )
}

/** One series, or one for each number of a range `{pool="1..3000"}`. */
function seriesOf(text: string): { readonly labels: Record<string, string>; readonly number: number }[] {
  const labels = parseLabels(text)
  const [name, , first, last] =
    Object.entries(labels)
      .map(([name, value]) => [name, ...(/^(\d+)\.\.(\d+)$/.exec(value) ?? [])] as const)
      .find((each) => each.length > 1) ?? []
  if (name === undefined) return [{ labels, number: Number.NaN }]
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => {
    const number = Number(first) + i
    return { labels: { ...labels, [name]: String(number) }, number }
  })
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="(.*?)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

function seconds(text: string): number {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([dhms])/g)]
  if (parts.map(([part]) => part).join('') !== text.replace('-', '')) throw new Error(`Not a time: ${text}`)
  const total = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0),
    0,
  )
  return text.startsWith('-') ? -total : total
}

function stepSeconds(text: string): number {
  return CALENDAR_STEPS[text] ?? (/^-?\d+$/.test(text) ? Number(text) : seconds(text))
}

/** `90m` is counted from the start; what is no such length goes over the wire as it is, such as `now-2d` and integers. */
function instant(text: string): string | number {
  if (text === '0' || /^-?(\d+(\.\d+)?[dhms])+$/.test(text)) {
    const at = SCRIPT_START + seconds(text)
    // Small integers are seconds (TR-2).
    return at < 100_000_000 ? at : at * 1000
  }
  return /^\d+$/.test(text) ? Number(text) : text.replaceAll('"', '')
}

function parseEval(line: string, text: string): Draft {
  const match =
    /^(?:version (\d+) )?(.*?) (?:at (\S+)|from (\S+) to (\S+)(?: step (\S+))?)(?: zone (\S+))?(?: limit (\d+))?(?: offset (\d+))?$/.exec(
      text,
    )
  if (!match) throw new Error(`Not an evaluation: ${text}`)
  const [, version, what = '', at, from, to, step, timezone = 'UTC', limit, offset] = match
  const parts = what.split(';').map((each) => each.trim())
  const isFormula = (part: string) => /^(?:\w+ )?= /.test(part)
  const formulas = parts.filter(isFormula).map(parseFormulaPart)
  const queries = parts
    .filter((part) => !isFormula(part))
    .map((each) => {
      const [, id = 'a', query = ''] = /^(?:(\w+): )?(.*)$/.exec(each) ?? []
      return { id, ...(formulas.length > 0 ? { disabled: true } : {}), ...parseQuery(query) }
    })
  const request: QueryRangeRequest = {
    timeRange: {
      start: instant(at ?? from ?? '0'),
      end: instant(at ?? to ?? '0'),
      ...(at === undefined ? (step === undefined ? {} : { step: stepSeconds(step) }) : { step: 1 }),
      timezone,
    },
    queries,
    formulas,
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(limit === undefined ? {} : { samplesLimit: Number(limit) }),
    ...(offset === undefined ? {} : { samplesOffset: Number(offset) }),
  }
  const isOrdered = limit !== undefined || offset !== undefined
  const told = { series: [], names: [], error: null, warnings: [], stepSeconds: null }
  const resultIndex = Math.max(formulas.length - 1, 0)
  return { line, request, resultIndex, isInstant: at !== undefined, isOrdered, ...told }
}

/** `= a / b | topk(1)`, or `f = a / b` for one that later ones use. */
function parseFormulaPart(text: string): MetricFormula {
  const [, id, rest = ''] = /^(?:(\w+) )?= (.*)$/.exec(text) ?? []
  const [expression = '', ...stages] = split(rest)
  const functions = stages.map(parseFunction)
  return { expression, ...(id === undefined ? {} : { id }), ...(functions.length === 0 ? {} : { functions }) }
}

/** Parts between bars, except those in quotes. */
function split(text: string): string[] {
  return text.split(/\|(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((each) => each.trim())
}

function parseQuery(text: string): MetricQuery {
  const [, body = '', alias] = /^(.*?)(?: as "(.*)")?$/.exec(text) ?? []
  const [selector = '', ...stages] = split(body)
  const [, query = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? []
  const functions: NonNullable<MetricQuery['functions']> = []
  let aggregate: MetricQuery['aggregate']
  for (const stage of stages) {
    const [, op, , grouping = ''] = /^(sum|avg|min|max|count)( by \((.*)\))?$/.exec(stage) ?? []
    if (op) aggregate = { op: op.toUpperCase(), grouping: grouping.split(', ').filter(Boolean) }
    else functions.push(parseFunction(stage))
  }
  return {
    query,
    labelSelector: parseLabels(labels),
    functions,
    ...(alias === undefined ? {} : { alias }),
    ...(aggregate ? { aggregate } : {}),
  }
}

function parseFunction(text: string): NonNullable<MetricQuery['functions']>[number] {
  const [, name = '', given = ''] = /^(\w+)\((.*)\)$/.exec(text) ?? []
  return { name, arguments: given === '' ? [] : given.split(',').map((each) => argument(each.trim())) }
}

/** `1d` is a length, `5` an integer, `0.5` a number. */
function argument(text: string): object {
  const [, value, unit] = /^(\d+(?:\.\d+)?)([a-zA-Z]+)$/.exec(text) ?? []
  if (unit !== undefined) return { durationValue: { value: Number(value), unit } }
  return Number.isInteger(Number(text)) ? { intValue: Number(text) } : { doubleValue: Number(text) }
}
