import type { LabelMatcher } from '../metrics/label-matcher.ts'
import type { Labels } from '../metrics/labels.ts'
import type { MetricType, SeriesPlan } from '../metrics/series-source.ts'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine, StatementOptions } from './fact-engine.ts'

/** A series of a metric as the engine knows it. `series_id` is decimal digits. */
export interface SeriesRow {
  readonly series_id: string
  readonly type: MetricType
  readonly labels: Labels
  readonly matches: number
}

/** All series of the metric, and whether each matches; none where nothing was ever ingested. */
export async function findSeries(
  engine: FactEngine,
  plan: Pick<SeriesPlan, 'metric' | 'matchers'>,
  options: StatementOptions,
): Promise<readonly SeriesRow[]> {
  const parameters: Record<string, string> = { metric: plan.metric }
  const conditions = plan.matchers.map((matcher, index) => matcherSql(matcher, index, parameters))
  const sql = `select series_id, type, labels, ${conditions.join(' and ') || '1'} as matches
from series where metric = {metric:String} order by series_id limit 1 by series_id`
  try {
    return await engine.rows<SeriesRow>(sql, { ...options, parameters })
  } catch (error) {
    if (hasEngineCode(error, 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE')) return []
    throw hasEngineCode(error, 'CANNOT_COMPILE_REGEXP') ? brokenExpression(plan.matchers, error) : error
  }
}

function matcherSql(matcher: LabelMatcher, index: number, parameters: Record<string, string>): string {
  const [label, value] = [`label${index}`, `value${index}`]
  parameters[label] = matcher.label
  parameters[value] =
    matcher.operator === '=~' || matcher.operator === '!~' ? `^(?:${matcher.value})$` : matcher.value
  const [name, wanted] = [`labels[{${label}:String}]`, `{${value}:String}`]
  switch (matcher.operator) {
    case '=':
      return `${name} = ${wanted}`
    case '!=':
      return `${name} != ${wanted}`
    case '=~':
      return `match(${name}, ${wanted})`
    case '!~':
      return `not match(${name}, ${wanted})`
  }
}

/** The databases of a version appear with its first data, so their absence is no failure. */
export function hasEngineCode(error: unknown, ...codes: string[]): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  return error.details.some((detail) => {
    const code = (detail as { engineCode?: unknown } | null)?.engineCode
    return typeof code === 'string' && codes.includes(code)
  })
}

/** The engine's message quotes the expression as it was anchored, and the statement around it. */
function brokenExpression(matchers: readonly LabelMatcher[], error: ServiceError): ServiceError {
  const expressions = matchers
    .filter(({ operator }) => operator === '=~' || operator === '!~')
    .map(({ label, operator, value }) => `${label}: ${JSON.stringify(operator + value)}`)
  const reason = /, error: ([^:]*)/.exec(error.message)?.[1] ?? 'does not compile'
  return new ServiceError(
    'invalid_argument',
    `labelSelector: not an RE2 regular expression (${reason}): ${expressions.join(', ')}`,
    { cause: error },
  )
}
