import { summarise, timeOnce } from '../latency.ts'
import type { System } from './ask-systems.ts'
import { BROAD_MINUTES } from './data-set.ts'
import type { BenchQuery } from './queries.ts'

/** How long the sum over so many series and days took. */
export interface CurvePoint {
  readonly series: number
  readonly days: number
  readonly points: number
  readonly secondsBetweenSamples: number
  /** Samples that lie in the range. */
  readonly samples: number
  readonly medianMs: number
}

interface Cell {
  readonly metric: string
  readonly series: number
  readonly secondsBetweenSamples: number
  readonly labelSelector: Readonly<Record<string, string>>
  readonly days: number
}

const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3600
/** Each of the lengths has some hundred points. */
const STEP_SECONDS: Readonly<Record<number, number>> = {
  1: 300,
  7: HOUR_SECONDS,
  30: HOUR_SECONDS,
  365: 43_200,
}
const DAYS = [1, 7, 30, 365]

/** Series are numbered: those of so few digits. */
const SELECTIONS = [
  { series: 1, labelSelector: { series: '7' } },
  { series: 10, labelSelector: { series: '=~[0-9]' } },
  { series: 100, labelSelector: { series: '=~[0-9]{1,2}' } },
  { series: 1000, labelSelector: { series: '=~[0-9]{1,3}' } },
  { series: 10_000, labelSelector: {} },
] as const

/** Each number of series and days. */
const ALL: readonly Cell[] = DAYS.flatMap((days) =>
  SELECTIONS.map((selection) => ({
    ...selection,
    metric: 'broad',
    secondsBetweenSamples: BROAD_MINUTES * 60,
    days,
  })),
)

/** The same series, days and points with more and fewer samples. */
const BY_SAMPLES: readonly Cell[] = [
  ...[
    { metric: 'gauge_a', secondsBetweenSamples: 60 },
    { metric: 'sparse', secondsBetweenSamples: 600 },
  ].flatMap((source) => [7, 30].map((days) => ({ ...source, series: 100, labelSelector: {}, days }))),
  { metric: 'year', secondsBetweenSamples: 60, series: 10, labelSelector: {}, days: 365 },
]

function queryOf({ metric, labelSelector, days, series }: Cell): BenchQuery {
  return {
    name: `${series} series of ${metric}, ${days} d`,
    days,
    stepSeconds: STEP_SECONDS[days] ?? HOUR_SECONDS,
    ours: { queries: [{ id: 'a', query: metric, labelSelector, aggregate: { op: 'SUM' } }] },
  }
}

/** No more than this is waited for one point of the curves. */
const LONG_MS = 20_000

/** Asks `rounds` times for each point of the curves, one time more ahead of the count; what takes long is asked less often. */
export async function measureCurves(
  system: System,
  rounds: number,
  progress: (text: string) => void,
): Promise<readonly CurvePoint[]> {
  const measured: CurvePoint[] = []
  for (const cell of [...ALL, ...BY_SAMPLES]) {
    const { series, days, secondsBetweenSamples } = cell
    const query = queryOf(cell)
    await system.ask(query)
    const took: number[] = []
    const until = performance.now() + LONG_MS
    do took.push(await timeOnce(() => system.ask(query)))
    while (took.length < rounds && performance.now() < until)
    const seconds = days * DAY_SECONDS
    const medianMs = Math.round(summarise(took).medianMs * 10) / 10
    measured.push({
      series,
      days,
      points: seconds / query.stepSeconds + 1,
      secondsBetweenSamples,
      samples: (series * seconds) / secondsBetweenSamples,
      medianMs,
    })
    progress(`curves: ${query.name}: ${medianMs} ms`)
  }
  return measured
}

/** The curves as a Markdown table. */
export function formatCurves(curves: readonly CurvePoint[]): string {
  const rows = curves.map((each) => [
    each.series,
    each.days,
    each.points,
    each.secondsBetweenSamples,
    each.samples,
    each.medianMs,
  ])
  return [
    ['Series', 'Days', 'Points', 'Seconds between samples', 'Samples in the range', 'Median, ms'],
    ['--:', '--:', '--:', '--:', '--:', '--:'],
    ...rows,
  ]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}
