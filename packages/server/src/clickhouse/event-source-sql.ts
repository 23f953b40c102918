import type { ComparedValue, EventCondition } from '../metrics/event-condition.ts'
import type { EventPlan, EventStatistic } from '../metrics/event-source.ts'
import { edgesOf, type Windows } from '../metrics/windows.ts'
import { sumAsDouble } from './fixed-point.ts'
import { EVENT_BATCH_COLUMN, quoteIdentifier } from './layout.ts'
import { cellExpression } from './series-source-cell.ts'
import { ofSnapshot } from './snapshot-condition.ts'

const PLACE = '(timestamp, block_number, transaction_index, log_index)'

/** What becomes of the events of a window; `x` is the property as a number, `y` as text, null where an event has none. */
const STATISTICS = {
  count: 'countIf(y is not null)',
  distinct: `uniqExactIf(y, y != '')`,
  sum: sumAsDouble('x'),
  avg: `${sumAsDouble('x')} / count(x)`,
  median: 'quantileExactInclusive(0.5)(x)',
  min: 'min(x)',
  max: 'max(x)',
  first: `argMinIf(x, ${PLACE}, x is not null)`,
  last: `argMaxIf(x, ${PLACE}, x is not null)`,
  p25: 'quantileExactInclusive(0.25)(x)',
  p75: 'quantileExactInclusive(0.75)(x)',
  p90: 'quantileExactInclusive(0.9)(x)',
  p95: 'quantileExactInclusive(0.95)(x)',
  p99: 'quantileExactInclusive(0.99)(x)',
} as const satisfies Record<EventStatistic, string>

/** The statement of a plan: rows of groups, window and value. */
export function eventSql(
  plan: EventPlan,
  table: string,
): { readonly sql: string; readonly parameters: Readonly<Record<string, string>> } {
  const parameters: Record<string, string> = {}
  const text = plan.property === null ? `''` : textOf(plan.property)
  const groups = `[${plan.groupBy.map((name) => `ifNull(${textOf(name)}, '')`).join(', ')}]`
  const edges = edgesOf(plan.windows)
  const conditions = [
    timeCondition(plan.windows) + ofSnapshot(plan.snapshot, quoteIdentifier(EVENT_BATCH_COLUMN)),
    ...gapCondition(plan.windows, edges),
    ...(plan.condition ? [conditionSql(plan.condition, parameters)] : []),
  ]
  const source = `select *, ${groups === '[]' ? `CAST([], 'Array(String)')` : groups} as groups, toUnixTimestamp64Micro(timestamp) as t, ${text} as y, toFloat64OrNull(y) as x
    from ${quoteIdentifier(table)} where ${conditions.join(' and ')}`
  const kept =
    plan.groupBy.length === 0
      ? source
      : `${source} and groups in (
          select groups from (${source}) group by groups order by count() desc, groups limit ${plan.maxGroups})`
  // A group whose events all lack the property has counts of 0, as it has in windows.
  const ofNewOnly = `select groups, toInt64(min(window)) as window, y from (select groups, y, ${windowsSql(plan.windows, edges)} as window from (${kept})) group by groups, y`
  const sql = plan.isNewOnly
    ? `select groups, window, toFloat64(countIf(y != '')) as value from (${ofNewOnly}) group by groups, window`
    : `select groups, window, toFloat64(${STATISTICS[plan.statistic]}) as value
       from (select *, ${windowsSql(plan.windows, edges)} as window from (${kept})) group by groups, window`
  return { sql, parameters }
}

function textOf(column: string): string {
  return `toString(${quoteIdentifier(column)})`
}

function timeCondition({ fromMicros, toMicros }: Windows): string {
  const [from, to] = [fromMicros[0] ?? 0, toMicros.at(-1) ?? 0]
  const until = `timestamp < fromUnixTimestamp64Micro(toInt64(${to}), 'UTC')`
  return from === -Infinity
    ? until
    : `timestamp >= fromUnixTimestamp64Micro(toInt64(${from}), 'UTC') and ${until}`
}

/** Leaves out events between windows that look back less than a step, so that they do not count when groups are chosen. */
function gapCondition(windows: Windows, edges: Float64Array): string[] {
  const { fromMicros, toMicros } = windows
  const hasGaps = toMicros.some((to, i) => i + 1 < toMicros.length && to < (fromMicros[i + 1] ?? to))
  if (!hasGaps) return []
  const { first, end } = windowRangeSql(windows, edges)
  return [`${first} < ${end}`]
}

/** The windows that an event is in, one row each; those that follow one another need no more than a division. */
function windowsSql({ fromMicros, toMicros }: Windows, edges: Float64Array): string {
  if (fromMicros[0] === -Infinity) {
    if (edges.length < 2) return 'toInt64(0)'
    return `if(t < ${edges[0]}, 0, ${cellSql(edges)} + 1)`
  }
  const isInTurn = toMicros.every((to, i) => i + 1 === toMicros.length || to === fromMicros[i + 1])
  if (isInTurn) return cellSql(edges)
  const { first, end } = windowRangeSql({ fromMicros, toMicros }, edges)
  return `arrayJoin(range(${first}, ${end}))`
}

/** The windows `[first, end)` that an event is in. */
function windowRangeSql(
  { fromMicros, toMicros }: Windows,
  edges: Float64Array,
): { readonly first: string; readonly end: string } {
  const cell = cellSql(edges)
  const first = Array.from(edges, (edge) => firstIndex(toMicros, (to) => to > edge))
  const end = Array.from(edges, (edge) => firstIndex(fromMicros, (from) => from > edge))
  return { first: `[${first.join(', ')}][${cell} + 1]`, end: `[${end.join(', ')}][${cell} + 1]` }
}

/** The index of the edge at or before an event. */
function cellSql(edges: Float64Array): string {
  const { sql } = cellExpression(edges)
  return isIndex(sql) ? sql : `indexOf([${edges.join(', ')}], ${sql}) - 1`
}

function isIndex(sql: string): boolean {
  return !sql.startsWith('roundDown')
}

function firstIndex(values: Float64Array, matches: (value: number) => boolean): number {
  const index = values.findIndex(matches)
  return index < 0 ? values.length : index
}

function conditionSql(condition: EventCondition, parameters: Record<string, string>): string {
  if (condition.kind !== 'comparison') {
    return `(${condition.conditions.map((each) => conditionSql(each, parameters)).join(` ${condition.kind} `)})`
  }
  const text = textOf(condition.property)
  const anyOf = (compare: (value: ComparedValue) => string) =>
    `ifNull(${condition.values.map(compare).join(' or ')}, 0)`
  const [low, high] = condition.values
  const compare = (operator: string, value: ComparedValue | undefined) =>
    value ? `ifNull(${ordered(text, operator, value, parameters)}, 0)` : '0'
  const isBetween = () => `(${compare('>=', low)} and ${compare('<=', high)})`
  switch (condition.comparison) {
    case 'EQ':
      return anyOf((value) => equals(text, value, parameters))
    case 'NEQ':
      return `not ${anyOf((value) => equals(text, value, parameters))}`
    case 'EXISTS':
      return `ifNull(${text} != '', 0)`
    case 'NOT_EXISTS':
      return `not ifNull(${text} != '', 0)`
    case 'GT':
      return compare('>', low)
    case 'GTE':
      return compare('>=', low)
    case 'LT':
      return compare('<', low)
    case 'LTE':
      return compare('<=', low)
    case 'BETWEEN':
      return isBetween()
    case 'NOT_BETWEEN':
      return `not ${isBetween()}`
    case 'CONTAINS':
      return anyOf((value) => `position(${text}, ${bind(value.text, 'String', parameters)}) > 0`)
    case 'NOT_CONTAINS':
      return `not ${anyOf((value) => `position(${text}, ${bind(value.text, 'String', parameters)}) > 0`)}`
  }
}

/** Equal as text, so that no digit of large integers is lost, or as a number or time. */
function equals(text: string, value: ComparedValue, parameters: Record<string, string>): string {
  const asText = `${text} = ${bind(value.text, 'String', parameters)}`
  if (value.kind === 'text') return asText
  const isExact =
    value.kind === 'number' && !Number.isSafeInteger(Number(value.text)) && /^-?\d+$/.test(value.text)
  return isExact ? asText : `(${asText} or ${ordered(text, '=', value, parameters)})`
}

function ordered(
  text: string,
  operator: string,
  value: ComparedValue,
  parameters: Record<string, string>,
): string {
  const bound = bind(value.text, 'String', parameters)
  if (value.kind === 'time') {
    return `${timeOf(text)} ${operator} ${timeOf(bound)}`
  }
  const isNumber = value.kind === 'number' || (value.text !== '' && Number.isFinite(Number(value.text)))
  if (!isNumber) return `${text} ${operator} ${bound}`
  return `toFloat64OrNull(${text}) ${operator} toFloat64(${bound})`
}

function timeOf(text: string): string {
  return `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`
}

function bind(text: string, type: string, parameters: Record<string, string>): string {
  const name = `value${Object.keys(parameters).length}`
  parameters[name] = text
  return `{${name}:${type}}`
}
