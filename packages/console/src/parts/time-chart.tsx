import { useEffect, useRef, useSyncExternalStore } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { currentTheme, onThemeChange } from '../shell/theme.ts'
import { compactNumber } from './format.ts'

export type ChartKind = 'line' | 'area' | 'stacked' | 'bar'

/** One line of a chart; `values` stand for the chart's times at the same places. */
export interface ChartSeries {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** Place in the palette; the place among the series when absent. */
  readonly colour?: number
}

const PALETTE = 10
/** Above this many lines none is brought out under the pointer: that draws all of them anew with each move. */
const FOCUS_MAX = 24
const NOTHING_HIDDEN: ReadonlySet<number> = new Set()

/** The CSS colour of the series at a place. */
export function seriesColour(place: number): string {
  return `var(--s${(place % PALETTE) + 1})`
}

/** A chart over time. Dragging calls `onZoom` with the part of time that was dragged over, in milliseconds. */
export function TimeChart({
  label,
  times,
  series,
  hidden = NOTHING_HIDDEN,
  kind,
  timezone,
  height = 320,
  onZoom,
  onCursor,
}: {
  readonly label: string
  /** Unix seconds, ascending. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  /** Places of the series that are not drawn. */
  readonly hidden?: ReadonlySet<number>
  readonly kind: ChartKind
  readonly timezone?: string
  readonly height?: number
  readonly onZoom?: (startMs: number, endMs: number) => void
  /** The place in `times` under the pointer. */
  readonly onCursor?: (index: number | null) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const theme = useSyncExternalStore(onThemeChange, currentTheme)
  const handlers = useRef({ onZoom, onCursor })
  handlers.current = { onZoom, onCursor }
  const drawn = useRef<UPlot>(null)
  const isStacked = kind === 'stacked' || kind === 'bar'
  // What is stacked must be added up anew; other lines are only switched on and off.
  const stackedWithout = isStacked ? hidden : null

  useEffect(() => {
    const element = box.current
    if (!element || times.length === 0) return
    const all = series.map((each, place) => ({ ...each, colour: each.colour ?? place }))
    const shown = stackedWithout ? stack(all.filter((_, place) => !stackedWithout.has(place))) : all
    // Lines one pixel wide are drawn several times as fast without a graphics card, and many are easier to tell apart.
    const isFocusing = shown.length <= FOCUS_MAX
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { size: 7, show: isFocusing },
          ...(isFocusing ? { focus: { prox: 24 } } : {}),
        },
        focus: { alpha: isFocusing ? 0.25 : 1 },
        ...(timezone === undefined
          ? {}
          : { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), timezone) }),
        axes: [
          { ...axis(theme), values: TIME_FORMATS },
          { ...axis(theme), size: 62, values: (_, ticks) => ticks.map(compactNumber) },
        ],
        ...(kind === 'bar'
          ? { scales: { x: { range: (_: UPlot, min: number, max: number) => barRange(min, max, times) } } }
          : {}),
        series: [{}, ...shown.map((each) => line(each, kind, isFocusing ? 1.6 : 1))],
        hooks: {
          setSelect: [
            (plot) => {
              const { left, width } = plot.select
              if (width > 4)
                handlers.current.onZoom?.(
                  plot.posToVal(left, 'x') * 1000,
                  plot.posToVal(left + width, 'x') * 1000,
                )
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
          setCursor: [(plot) => handlers.current.onCursor?.(plot.cursor.idx ?? null)],
        },
      },
      [times as number[], ...shown.map(({ values }) => values as (number | null)[])],
      element,
    )
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    drawn.current = chart
    return () => {
      drawn.current = null
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, stackedWithout, kind, timezone, height, theme])

  useEffect(() => {
    const chart = drawn.current
    if (!chart || isStacked) return
    chart.batch(() => {
      for (const place of series.keys()) {
        const show = !hidden.has(place)
        if (chart.series[place + 1]?.show !== show) chart.setSeries(place + 1, { show })
      }
    })
  }, [hidden, isStacked, times, series, kind, timezone, height, theme])

  return <div ref={box} className="chart" role="img" aria-label={label} style={{ minHeight: height }} />
}

type Drawn = ChartSeries & { readonly colour: number }

const BY_YEAR = '\n{YYYY}'
const BY_DAY = '\n{D} {MMM}'
/** Ticks by their distance in seconds: the format, and what is added where a year, month, day, hour or minute begins. */
const TIME_FORMATS: UPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', BY_YEAR, null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', BY_YEAR, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', `${BY_DAY} {YYYY}`, null, BY_DAY, null, null, null, 1],
  [1, ':{ss}', `${BY_DAY} {YYYY} {HH}:{mm}`, null, `${BY_DAY} {HH}:{mm}`, null, '\n{HH}:{mm}', null, 1],
]

/** Half a bar is left free at both ends. */
function barRange(min: number, max: number, times: readonly number[]): [number, number] {
  const half = ((times[1] ?? max) - (times[0] ?? min)) / 2
  return [min - half, max + half]
}

/** Adds up, from the first series; drawn from the sum down, so that each covers what it adds. */
function stack(series: readonly Drawn[]): readonly Drawn[] {
  const sums: number[] = []
  return series
    .map((each) => ({
      ...each,
      values: each.values.map((value, index) => {
        sums[index] = (sums[index] ?? 0) + (value ?? 0)
        return value === null && sums[index] === 0 ? null : sums[index]
      }),
    }))
    .toReversed()
}

function colourOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim()
}

function line({ name, colour, values }: Drawn, kind: ChartKind, width: number): UPlot.Series {
  const stroke = colourOf(`--s${(colour % PALETTE) + 1}`)
  // A point with no neighbour would not be seen as a line.
  const isSparse = values.length < 3
  const base = { label: name, stroke, width, points: { show: isSparse, size: 6 } }
  switch (kind) {
    case 'line':
      return base
    case 'area':
      return { ...base, fill: `${stroke}26` }
    case 'stacked':
      return { ...base, width: 1, fill: stroke }
    case 'bar': {
      const paths = UPlot.paths.bars?.({ size: [0.82, 40], radius: 0.12 })
      return { ...base, width: 0, fill: stroke, points: { show: false }, ...(paths ? { paths } : {}) }
    }
  }
}

function axis(_theme: string): UPlot.Axis {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const grid = { stroke: colourOf('--line'), width: 1 }
  return { stroke: colourOf('--text-soft'), font, grid, ticks: { ...grid, size: 5 } }
}
