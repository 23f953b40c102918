import { summarise, timeOnce } from '../latency.ts'
import type { System } from './ask-systems.ts'
import { YEAR_DAYS } from './data-set.ts'
import type { BenchQuery } from './queries.ts'

/** How long the sum over so many series and days took. */
export interface CurvePoint {
  readonly series: number
  readonly days: number
  readonly points: number
  /** Samples that lie in the range. */
  readonly samples: number
  readonly medianMs: number
}

interface Selection {
  readonly metric: string
  readonly series: number
  readonly labelSelector: Readonly<Record<string, string>>
}

const MINUTES_A_DAY = 1440
const HOUR_SECONDS = 3600
/** As long as the data is, less the day that ranges leave at its end. */
const DAYS_MAX = 44

const OF_A_HUNDRED: readonly Selection[] = [
  { metric: 'gauge_a', series: 1, labelSelector: { series: '7' } },
  { metric: 'gauge_a', series: 10, labelSelector: { group: '7' } },
  { metric: 'gauge_a', series: 100, labelSelector: {} },
]
const OF_TEN_THOUSAND: readonly Selection[] = [
  { metric: 'wide', series: 1, labelSelector: { series: '7' } },
  { metric: 'wide', series: 1000, labelSelector: { group: '7' } },
  { metric: 'wide', series: 10_000, labelSelector: {} },
]

/** A year of fewer series than the rest, as they would be fifty million samples. */
const OF_A_YEAR: readonly Selection[] = [
  { metric: 'year', series: 1, labelSelector: { series: '7' } },
  { metric: 'year', series: 10, labelSelector: {} },
]
const HALF_DAY_SECONDS = 43_200

/** Sums over more and more series and days, each on a grid of a few hundred points. */
function curveQueries(): readonly { readonly selection: Selection; readonly query: BenchQuery }[] {
  const queryOf = ({ metric, series, labelSelector }: Selection, days: number): BenchQuery => ({
    name: `${series} series of ${metric}, ${days} d`,
    days,
    stepSeconds: days === 1 ? 300 : days > DAYS_MAX ? HALF_DAY_SECONDS : HOUR_SECONDS,
    ours: { queries: [{ id: 'a', query: metric, labelSelector, aggregate: { op: 'SUM' } }] },
  })
  return [
    ...[1, 7, 30, DAYS_MAX].flatMap((days) =>
      OF_A_HUNDRED.map((selection) => ({ selection, query: queryOf(selection, days) })),
    ),
    ...OF_A_YEAR.map((selection) => ({ selection, query: queryOf(selection, YEAR_DAYS) })),
    ...OF_TEN_THOUSAND.map((selection) => ({ selection, query: queryOf(selection, 1) })),
  ]
}

/** Asks `rounds` times for each point of the curves; one more goes ahead of the count. */
export async function measureCurves(system: System, rounds: number): Promise<readonly CurvePoint[]> {
  const measured: CurvePoint[] = []
  for (const { selection, query } of curveQueries()) {
    const { series } = selection
    const { days, stepSeconds } = query
    await system.ask(query)
    const took: number[] = []
    for (let round = 0; round < rounds; round += 1) took.push(await timeOnce(() => system.ask(query)))
    measured.push({
      series,
      days,
      points: (days * 86_400) / stepSeconds + 1,
      samples: series * days * MINUTES_A_DAY,
      medianMs: Math.round(summarise(took).medianMs * 10) / 10,
    })
  }
  return measured
}

/** The curves as a Markdown table. */
export function formatCurves(curves: readonly CurvePoint[]): string {
  const rows = curves.map(({ series, days, points, samples, medianMs }) => [
    series,
    days,
    points,
    samples,
    medianMs,
  ])
  return [
    ['Series', 'Days', 'Points', 'Samples in the range', 'Median, ms'],
    ['--:', '--:', '--:', '--:', '--:'],
    ...rows,
  ]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}
