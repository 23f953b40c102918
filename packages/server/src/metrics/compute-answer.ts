import type { MetricFormula } from '@millrace/contract'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { EvaluatedQuery } from './evaluate-query.ts'
import { QUERY_STAGES, type QueryExplanation, type QueryStage } from './explain-query.ts'
import { createPace, type Pace } from './pace.ts'
import {
  describeGrid,
  limitSeries,
  type RangeAnswer,
  type RangeResult,
  type ResultSource,
  type SeriesLimit,
} from './range-answer.ts'
import { neededIds, parseFormulas, runFormulas, type Outcome } from './run-formulas.ts'
import { MAX_POINTS } from './step.ts'
import type { Grid } from './time-range.ts'

/** One query of a request. */
export interface RequestQuery {
  readonly dataSource: ResultSource
  /** Where it stands in the request, such as `queries[0]`. */
  readonly field: string
  readonly wire: Pick<MetricFormula, 'id' | 'alias' | 'disabled'>
  readonly name: string
  evaluate(): Promise<EvaluatedQuery>
}

/** What is answered together: queries, formulas over them, and how many series of each are shown. */
export interface AnswerPlan {
  readonly grid: Grid
  readonly stepWished: number | null
  readonly queries: readonly RequestQuery[]
  readonly formulas: readonly MetricFormula[]
  readonly limit: SeriesLimit
}

/** How an answer came about; times in milliseconds. */
export interface Explanation {
  readonly queries: readonly ({ readonly field: string; readonly id: string | null } & QueryExplanation)[]
  /** Of queries that run at the same time the sum; `respond` orders and limits the series. */
  readonly stagesMs: Readonly<Record<QueryStage | 'formulas' | 'respond', number>>
}

/** An answer and how it came about. */
export interface ComputedAnswer {
  readonly answer: RangeAnswer
  readonly explanation: Explanation
}

/** Evaluates the queries that are shown or needed, then the formulas (MQ-1, MQ-6). */
export async function computeAnswer(
  clock: Clock,
  plan: AnswerPlan,
  signal: AbortSignal,
): Promise<ComputedAnswer> {
  const { grid, limit } = plan
  const formulas = parseFormulas(plan.formulas)
  const needed = neededIds(formulas)
  const queries = await Promise.all(
    plan.queries.map(async (query) => {
      const { wire } = query
      const isSkipped = wire.disabled && !(wire.id && needed.has(wire.id))
      const evaluated = isSkipped ? null : await tryQuery(query)
      const outcome: Outcome = evaluated instanceof ServiceError ? evaluated : (evaluated?.series ?? [])
      const done = evaluated instanceof ServiceError ? null : evaluated
      return { ...query, id: wire.id ?? '', outcome, done }
    }),
  )
  const evaluatedAt = clock.monotonic()
  const pace = createPace(clock, signal)
  const formulaOutcomes = await runFormulas(formulas, queries, grid, pace)
  const combinedAt = clock.monotonic()
  const all: readonly Named[] = [
    ...queries,
    ...formulas.map(({ wire }, i): Named => ({
      dataSource: 'FORMULA',
      field: `formulas[${i}]`,
      wire,
      name: wire.expression ?? '',
      outcome: formulaOutcomes[i] ?? [],
    })),
  ]
  const returned = all.filter(({ wire }) => !wire.disabled)
  throwIfUnavailable(returned)
  const results = await Promise.all(returned.map((each) => toResult(each, limit, pace)))
  const warnings = [
    ...(returned.length === 0 ? [NOTHING_ASKED] : []),
    ...gridWarnings(plan),
    ...queries.flatMap(({ done }) => done?.warnings ?? []),
    ...returned.flatMap(({ field }, i) => limitWarnings(field, results[i], limit)),
  ]
  const explained = queries.flatMap(({ field, wire, done }) =>
    done ? [{ field, id: wire.id ?? null, ...done.explanation }] : [],
  )
  return {
    answer: { ...describeGrid(grid), results, warnings: [...new Set(warnings)] },
    explanation: {
      queries: explained,
      stagesMs: {
        ...sumOfStages(explained),
        formulas: combinedAt - evaluatedAt,
        respond: clock.monotonic() - combinedAt,
      },
    },
  }
}

const NOTHING_ASKED = 'there is nothing to answer: queries and formulas are absent or disabled'

interface Named extends Pick<RequestQuery, 'dataSource' | 'field' | 'wire' | 'name'> {
  readonly outcome: Outcome
}

/** A query's own failure belongs to its result (ER-3); a defect, and a caller who went away, end the whole. */
async function tryQuery(query: RequestQuery): Promise<EvaluatedQuery | ServiceError> {
  try {
    return await query.evaluate()
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'cancelled' && error.code !== 'internal') return error
    throw error
  }
}

/** When nothing could be answered for want of the engine, the caller is told to come again. */
function throwIfUnavailable(returned: readonly Named[]): void {
  const [first] = returned
  const isDown = returned.every(
    ({ outcome }) => outcome instanceof ServiceError && outcome.code === 'unavailable',
  )
  if (isDown && first?.outcome instanceof ServiceError) throw first.outcome
}

async function toResult(
  { dataSource, wire, name, outcome }: Named,
  limit: SeriesLimit,
  pace: Pace,
): Promise<RangeResult> {
  const head = { dataSource, id: wire.id ?? null, alias: wire.alias ?? null }
  if (outcome instanceof ServiceError) {
    return { ...head, error: outcome.message, series: [], totalSeries: 0 }
  }
  return { ...head, error: null, ...(await limitSeries(outcome, name, head.alias, limit, pace)) }
}

function gridWarnings({ grid, stepWished }: AnswerPlan): string[] {
  if (!grid.isAdjusted) return []
  return [
    `timeRange.step: ${stepWished} s would give more than ${MAX_POINTS} points; raised to ${grid.stepSeconds} s`,
  ]
}

/** A limit that nobody chose is said where it cuts. */
function limitWarnings(field: string, result: RangeResult | undefined, limit: SeriesLimit): string[] {
  if (!result || !limit.isOurs || result.totalSeries <= limit.samplesOffset + limit.samplesLimit) return []
  return [
    `${field}: ${result.series.length} of ${result.totalSeries} series are shown; samplesLimit and samplesOffset choose others, an aggregate makes fewer`,
  ]
}

function sumOfStages(explained: readonly QueryExplanation[]): Record<QueryStage, number> {
  const sum = (stage: QueryStage) => explained.reduce((total, { stagesMs }) => total + stagesMs[stage], 0)
  return Object.fromEntries(QUERY_STAGES.map((stage) => [stage, sum(stage)])) as Record<QueryStage, number>
}
