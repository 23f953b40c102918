import { gridOf } from './oracle-calendar.ts'
import { evaluateFormulaPlainly, type OracleFormula } from './oracle-formula.ts'
import {
  carried,
  evaluatePointwise,
  evaluateWindow,
  looksAtSamples,
  type OracleFunction,
  type OracleSeries,
  type OracleType,
  type OracleValue,
} from './oracle-functions.ts'
import { seriesKey, type Sample } from './samples.ts'

/**
 * The rulings MQ-1 to MQ-7, FN and FO in the slowest and plainest way: every window looks at every sample, every pair of
 * series is compared, and the calendar is asked of Intl each time. Shares nothing with the code it judges.
 */
export interface OracleQuery {
  readonly id: string
  readonly metric: string
  /** As on the wire: a value, or a matcher (MQ-4). */
  readonly selector: Readonly<Record<string, string>>
  readonly functions: readonly OracleFunction[]
  readonly aggregate: { readonly op: string; readonly grouping: readonly string[] } | null
}

/** A formula over queries and earlier formulas. */
export interface OracleFormulaQuery {
  readonly id: string
  readonly formula: OracleFormula
  readonly functions: readonly OracleFunction[]
}

/** A request as the oracle sees it. */
export interface OracleRequest {
  readonly startMs: number
  readonly endMs: number
  readonly stepSeconds: number
  readonly timezone: string
  readonly queries: readonly OracleQuery[]
  readonly formulas: readonly OracleFormulaQuery[]
}

/** The grid and the series of each query and formula, those without points left out; null for a formula that fails. */
export interface OracleAnswer {
  readonly gridSeconds: readonly number[]
  readonly results: ReadonlyMap<string, readonly OracleSeries[] | null>
  /** The largest magnitude on the way: sums of such numbers in another order differ in its last digits. */
  readonly scale: number
}

/** Answers a request from all samples of a processor version. */
export function oracle(samples: readonly Sample[], request: OracleRequest): OracleAnswer {
  const { startMs, endMs, stepSeconds, timezone } = request
  const gridSeconds = gridOf(startMs, endMs, stepSeconds, timezone)
  const results = new Map<string, readonly OracleSeries[] | null>()
  const scale = { largest: 1 }
  for (const query of request.queries) {
    results.set(query.id, evaluateQuery(samples, query, gridSeconds, timezone, scale))
  }
  for (const { id, formula, functions } of request.formulas) {
    const known = new Map([...results].map(([name, series]) => [name, series ?? []]))
    const isBroken = idsOf(formula).some((name) => results.get(name) === null)
    results.set(id, isBroken ? null : tryFormula(formula, known, functions, gridSeconds, timezone, scale))
  }
  return { gridSeconds, results, scale: scale.largest }
}

interface Scale {
  largest: number
}

function note(scale: Scale, value: number | null): void {
  if (value !== null) scale.largest = Math.max(scale.largest, Math.abs(value))
}

function tryFormula(
  formula: OracleFormula,
  known: ReadonlyMap<string, readonly OracleSeries[]>,
  functions: readonly OracleFunction[],
  grid: readonly number[],
  zone: string,
  scale: Scale,
): OracleSeries[] | null {
  try {
    const series = evaluateFormulaPlainly(formula, known, grid.length, (value) => note(scale, value))
    return applyAll(series, functions, grid, zone, scale)
  } catch {
    return null
  }
}

function evaluateQuery(
  samples: readonly Sample[],
  { metric, selector, functions, aggregate }: OracleQuery,
  grid: readonly number[],
  zone: string,
  scale: Scale,
): OracleSeries[] {
  const chosen = samples.filter(
    (sample) =>
      sample.metric === metric &&
      Object.entries(selector).every(([label, text]) => isMatch(sample.labels[label] ?? '', text)),
  )
  const [first, ...rest] = functions
  const sees = first && looksAtSamples(first) ? first : null
  const series = [...Map.groupBy(chosen, ({ labels }) => seriesKey(labels)).values()].map((members) => {
    const type: OracleType = members[0]?.type ?? 'gauge'
    const values = valuesOf(members)
    const labels = members[0]?.labels ?? {}
    return {
      labels,
      values: grid.map((t) => (sees ? evaluateWindow(values, type, sees, t, zone) : carried(values, t))),
    }
  })
  const applied = applyAll(withPoints(series), sees ? rest : functions, grid, zone, scale)
  return aggregate ? withPoints(aggregated(applied, aggregate.op, aggregate.grouping)) : applied
}

/** Samples in order, a counter's as running totals (MQ-3); what is no number is no sample (MQ-2). */
function valuesOf(samples: readonly Sample[]): OracleValue[] {
  const ordered = samples
    .filter(({ value }) => Number.isFinite(value))
    .toSorted(
      (a, b) =>
        a.timestampMicros - b.timestampMicros || a.blockNumber - b.blockNumber || a.ordinal - b.ordinal,
    )
  let total = 0
  return ordered.map(({ type, timestampMicros, value }) => {
    total += value
    return { atMicros: timestampMicros, value: type === 'counter' ? total : value }
  })
}

function isMatch(value: string, text: string): boolean {
  if (text.startsWith('=~')) return new RegExp(`^(?:${text.slice(2)})$`).test(value)
  if (text.startsWith('!~')) return !new RegExp(`^(?:${text.slice(2)})$`).test(value)
  return text.startsWith('!=') ? value !== text.slice(2) : value === text
}

/** Each function sees the points of the one before as samples (FN-7). */
function applyAll(
  series: readonly OracleSeries[],
  functions: readonly OracleFunction[],
  grid: readonly number[],
  zone: string,
  scale: Scale,
): OracleSeries[] {
  let applied = [...series]
  const noteAll = () => applied.forEach(({ values }) => values.forEach((value) => note(scale, value)))
  noteAll()
  for (const call of functions) {
    applied = looksAtSamples(call)
      ? applied.map(({ labels, values }) => {
          const points = grid.flatMap((t, i) => {
            const value = values[i] ?? null
            return value === null ? [] : [{ atMicros: t * 1e6, value }]
          })
          return { labels, values: grid.map((t) => evaluateWindow(points, 'gauge', call, t, zone)) }
        })
      : evaluatePointwise(applied, call, grid, zone)
    noteAll()
  }
  return withPoints(applied)
}

/** The values that the series of a group have at a point (MQ-5). */
function aggregated(
  series: readonly OracleSeries[],
  op: string,
  grouping: readonly string[],
): OracleSeries[] {
  const labelsOf = ({ labels }: OracleSeries) =>
    Object.fromEntries(grouping.flatMap((name) => (labels[name] ? [[name, labels[name]]] : [])))
  const groups = Map.groupBy(series, (each) => seriesKey(labelsOf(each)))
  return Array.from(groups.values(), (members) => ({
    labels: labelsOf(members[0] as OracleSeries),
    values: (members[0]?.values ?? []).map((_, i) => {
      const there = members.map(({ values }) => values[i] ?? null).filter((value) => value !== null)
      const sum = there.reduce((a, b) => a + b, 0)
      if (there.length === 0) return null
      if (op === 'COUNT') return there.length
      if (op === 'MIN') return Math.min(...there)
      if (op === 'MAX') return Math.max(...there)
      return op === 'SUM' ? sum : sum / there.length
    }),
  }))
}

function withPoints(series: readonly OracleSeries[]): OracleSeries[] {
  return series.filter(({ values }) => values.some((value) => value !== null))
}

function idsOf(formula: OracleFormula): string[] {
  switch (formula.kind) {
    case 'number':
      return []
    case 'id':
      return [formula.id]
    case 'minus':
      return idsOf(formula.of)
    case 'binary':
      return [...idsOf(formula.left), ...idsOf(formula.right)]
    case 'call':
      return formula.of.flatMap(idsOf)
  }
}
