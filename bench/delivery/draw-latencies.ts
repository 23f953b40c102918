import { drawPlot, scale } from '../plot.ts'

/** One figure of the plot, as results have it. */
export interface LatencyResult {
  readonly contender: string
  readonly scenario: string
  /** Milliseconds; null where nothing arrived. */
  readonly p99: number | null
  /** Of the messages that should have come. */
  readonly deliveredShare: number
}

const WIDTH = 920
const PLOT = { left: 322, right: 725, top: 84 }
const ROW = 34
const FROM_MS = 10
const TO_MS = 10_000
/** Where those stand of which less than this arrived in time. */
const ARRIVED_SHARE = 0.99
const DROWNED = 830

/** Told apart by colour; what is plain is hollow. */
const COLOURS: readonly (readonly [start: string, colour: string])[] = [
  ['millrace on SQLite', '#0d9488'],
  ['millrace on PostgreSQL', '#2563eb'],
  ['BullMQ', '#dc2626'],
  ['graphile-worker', '#d97706'],
  ['pg-boss', '#9333ea'],
]

/** The slowest hundredth of each contender in each scenario, on an axis of powers of ten; legible on light and dark ground. */
export function drawLatencies(results: readonly LatencyResult[]): string {
  const scenarios = [...new Set(results.map(({ scenario }) => scenario))]
  const contenders = [...new Set(results.map(({ contender }) => contender))]
  const bottom = PLOT.top + scenarios.length * ROW
  const height = bottom + 60
  const rows = scenarios.flatMap((scenario, index) => {
    const y = PLOT.top + (index + 0.5) * ROW
    return [
      `<line class="grid" x1="${PLOT.left}" y1="${y}" x2="${DROWNED + 60}" y2="${y}"/>`,
      `<text x="${PLOT.left - 12}" y="${y + 4}" text-anchor="end">${escape(scenario)}</text>`,
      ...results.filter((result) => result.scenario === scenario).map((result) => dot(result, contenders, y)),
    ]
  })
  const axis = [10, 100, 1000, 10_000].map(
    (ms) =>
      `<line class="grid" x1="${placeOf(ms)}" y1="${PLOT.top}" x2="${placeOf(ms)}" y2="${bottom}"/><text x="${placeOf(ms)}" y="${bottom + 20}" text-anchor="middle">${ms < 1000 ? `${ms} ms` : `${ms / 1000} s`}</text>`,
  )
  return drawPlot(
    {
      width: WIDTH,
      height,
      label: 'Slowest hundredth of messages from enqueueing to arrival, by scenario and contender',
    },
    [
      `<text x="20" y="26" class="title">From enqueueing to arrival: p99 of each contender</text>`,
      ...legend(contenders),
      ...axis,
      `<text x="${DROWNED}" y="${bottom + 20}" text-anchor="middle">does not keep up</text>`,
      ...rows,
    ],
  )
}

function dot({ contender, p99, deliveredShare }: LatencyResult, contenders: readonly string[], y: number) {
  const isInTime = p99 !== null && deliveredShare >= ARRIVED_SHARE
  // Those that do not keep up stand beside one another, in the order of the legend.
  const x = isInTime ? placeOf(p99) : DROWNED - 42 + contenders.indexOf(contender) * 12
  const figure = isInTime ? `${Math.round(p99)} ms` : `${Math.floor(deliveredShare * 100)} % arrived in time`
  return `<circle cx="${x}" cy="${y}" r="5" ${paintOf(contender)}><title>${escape(contender)}: ${figure}</title></circle>`
}

function legend(contenders: readonly string[]): readonly string[] {
  return contenders.map((contender, index) => {
    const [x, y] = [28 + (index % 4) * 205, 46 + Math.floor(index / 4) * 20]
    return `<circle cx="${x}" cy="${y}" r="5" ${paintOf(contender)}/><text x="${x + 12}" y="${y + 4}">${escape(contender)}</text>`
  })
}

function paintOf(contender: string): string {
  const colour = COLOURS.find(([start]) => contender.startsWith(start))?.[1] ?? '#64748b'
  return `stroke="${colour}" stroke-width="2" fill="${contender.endsWith('plain') ? 'none' : colour}"`
}

const place = scale(FROM_MS, TO_MS, PLOT.left, PLOT.right)

function placeOf(ms: number): number {
  return place(Math.min(TO_MS, Math.max(FROM_MS, ms)))
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
