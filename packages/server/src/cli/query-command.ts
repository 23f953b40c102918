import { createClient, type RangeQueryAnswer } from '@millrace/sdk'
import { Command } from 'commander'
import { collect, connectionOf, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { printable, printJson, printLine, printTable, printWarnings } from './print.ts'
import { UsageError } from './usage-error.ts'

interface QueryOptions extends ConnectionOptions {
  readonly start: string
  readonly end: string
  readonly step?: number
  readonly timezone: string
  readonly function?: readonly string[]
  readonly label?: readonly string[]
  readonly aggregate?: string
  readonly limit: number
}

const AGGREGATES = ['AVG', 'SUM', 'MIN', 'MAX', 'COUNT'] as const

/** `millrace query`. */
export function queryCommand(): Command {
  return withConnection(
    new Command('query')
      .argument('<project>', 'owner/name')
      .argument('<metric>', 'name of the metric')
      .description('range query of a metric')
      .option('--start <instant>', 'now-30d, or milliseconds since 1970', 'now-1d')
      .option('--end <instant>', 'now, or as start', 'now')
      .option('--step <seconds>', 'distance of the points', parseCount)
      .option('--timezone <name>', 'tz database name', 'UTC')
      .option('--function <name:window>', 'e.g. rollup_sum:1d; repeatable, applied in order', collect)
      .option('--label <name=value>', 'label filter; repeatable', collect)
      .option('--aggregate <op>', `one series of all: ${AGGREGATES.join(', ')}`)
      .option('--limit <series>', 'most series', parseCount, 20),
  ).action(async (project: string, metric: string, options: QueryOptions) => {
    const answer = await createClient(connectionOf(options)).queryRange(project, {
      queries: [
        {
          query: metric,
          id: 'a',
          labelSelector: Object.fromEntries((options.label ?? []).map(splitLabel)),
          aggregate: options.aggregate === undefined ? null : { op: aggregateOf(options.aggregate) },
          functions: (options.function ?? []).map(functionCall),
        },
      ],
      timeRange: {
        start: options.start,
        end: options.end,
        timezone: options.timezone,
        ...(options.step === undefined ? {} : { step: options.step }),
      },
      samplesLimit: options.limit,
    })
    if (options.json) printJson(answer)
    else printAnswer(answer)
  })
}

function printAnswer(answer: RangeQueryAnswer): void {
  printWarnings(answer.warnings)
  for (const { error, matrix } of answer.results) {
    if (error) throw new Error(error)
    for (const { metric, values } of matrix?.samples ?? []) {
      printLine(printable(metric.displayName))
      const rows = values.map(({ timestamp, value }) => ({
        time: new Date(Number(timestamp) * 1000).toISOString(),
        value,
      }))
      printTable(['time', 'value'], rows)
      printLine()
    }
  }
}

function splitLabel(text: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--label is written name=value, not "${text}"`)
  }
  return [name, value]
}

function functionCall(text: string) {
  const [, name, value, unit = ''] = /^(\w+)(?::(\d+(?:\.\d+)?)([A-Za-z]+))?$/.exec(text) ?? []
  if (name === undefined) {
    throw new UsageError(`--function is written name or name:window, e.g. rate:5m, not "${text}"`)
  }
  if (value === undefined) return { name, arguments: [] }
  return { name, arguments: [{ durationValue: { value: Number(value), unit } }] }
}

function aggregateOf(text: string) {
  const op = AGGREGATES.find((each) => each === text.toUpperCase())
  if (op === undefined) throw new UsageError(`--aggregate must be one of ${AGGREGATES.join(', ')}`)
  return op
}
