import type { EventPlan, EventReading, EventSource } from '../metrics/event-source.ts'
import type { GridSeries } from '../metrics/grid-series.ts'
import { invalidArgument } from '../platform/errors.ts'
import { eventSql } from './event-source-sql.ts'
import type { FactEngine, StatementOptions } from './fact-engine.ts'
import { EVENT_BATCH_COLUMN, eventTable, versionDatabases } from './layout.ts'

const TIMEOUT_MS = 60_000

interface EventValueRow {
  readonly groups: readonly string[]
  readonly window: string
  readonly value: number | null
}

/** Reads event logs: one statement groups, filters and computes. */
export function createEventSource(engine: FactEngine): EventSource {
  return {
    async read(plan, signal) {
      const options = { timeoutMs: TIMEOUT_MS, signal }
      const { facts } = versionDatabases(plan.projectId, plan.version)
      const columns = await readColumns(engine, facts, plan.name, options)
      if (columns.size === 0) return { isKnownLog: false, series: [] }
      checkColumns(plan, columns)
      const { sql, parameters } = eventSql(plan, eventTable(plan.name))
      const rows = await engine.rows<EventValueRow>(sql, { ...options, database: facts, parameters })
      return { isKnownLog: true, series: toSeries(plan, rows) } satisfies EventReading
    },
  }
}

async function readColumns(
  engine: FactEngine,
  facts: string,
  name: string,
  options: StatementOptions,
): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ name: string }>(
    'select name from system.columns where database = {facts:String} and table = {table:String}',
    { ...options, parameters: { facts, table: eventTable(name) } },
  )
  return new Set(rows.map((row) => row.name).filter((column) => column !== EVENT_BATCH_COLUMN))
}

function checkColumns(plan: EventPlan, columns: ReadonlySet<string>): void {
  const used = [
    ...plan.groupBy,
    ...(plan.property === null ? [] : [plan.property]),
    ...propertiesOf(plan.condition),
  ]
  for (const name of used) {
    if (columns.has(name)) continue
    throw invalidArgument(
      `the event log ${JSON.stringify(plan.name)} has no property ${JSON.stringify(name)}; it has ${[...columns].join(', ')}`,
    )
  }
}

function propertiesOf(condition: EventPlan['condition']): string[] {
  if (!condition) return []
  return condition.kind === 'comparison' ? [condition.property] : condition.conditions.flatMap(propertiesOf)
}

/** Where a group has no event, a count is 0 and nothing else has a value. */
function toSeries(plan: EventPlan, rows: readonly EventValueRow[]): GridSeries[] {
  const length = plan.windows.toMicros.length
  const isCount = plan.statistic === 'count' || plan.statistic === 'distinct'
  const series = new Map<string, GridSeries>()
  for (const { groups, window, value } of rows) {
    const key = JSON.stringify(groups)
    let target = series.get(key)
    if (!target) {
      const labels = Object.fromEntries(
        plan.groupBy.map((name, i) => [name, groups[i] ?? '']).filter(([, label]) => label !== ''),
      )
      target = { labels, values: new Float64Array(length).fill(isCount ? 0 : Number.NaN) }
      series.set(key, target)
    }
    if (value !== null) target.values[Number(window)] = value
  }
  return [...series.values()]
}
