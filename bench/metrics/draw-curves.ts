import { drawPlot, scale } from '../plot.ts'
import type { CurvePoint } from './curves.ts'
import { BROAD_MINUTES } from './data-set.ts'

const WIDTH = 760
const HEIGHT = 420
const PLOT = { left: 70, right: 610, top: 50, bottom: 360 }

/** A colour and a dash for each length of range: lines are told apart in print, too. */
const STROKES = [
  { colour: '#2563eb', dash: '' },
  { colour: '#0d9488', dash: '7 3' },
  { colour: '#d97706', dash: '3 3' },
  { colour: '#db2777', dash: '10 3 2 3' },
]

function powersOfTen(from: number, to: number): number[] {
  const powers: number[] = []
  for (let power = from; power <= to; power *= 10) powers.push(power)
  return powers
}

/** Times by series, a line for each number of days, both axes logarithmic; legible on light and dark ground. */
export function drawCurves(curves: readonly CurvePoint[]): string {
  const shown = curves.filter(({ secondsBetweenSamples }) => secondsBetweenSamples === BROAD_MINUTES * 60)
  const [least, most] = [Math.min(...timesOf(shown)), Math.max(...timesOf(shown))]
  const [lowest, highest] = [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most))]
  const seriesMost = Math.max(...shown.map(({ series }) => series))
  const x = scale(1, seriesMost, PLOT.left, PLOT.right)
  const y = scale(lowest, highest, PLOT.bottom, PLOT.top)
  const days = [...new Set(shown.map((each) => each.days))].toSorted((a, b) => a - b)
  const parts = [
    ...powersOfTen(lowest, highest).map((ms) => horizontal(y(ms), milliseconds(ms))),
    ...powersOfTen(1, seriesMost).map((series) => vertical(x(series), grouped(series))),
    `<text x="${PLOT.left}" y="28" class="title">A sum over series, by how many and how long</text>`,
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${HEIGHT - 14}" text-anchor="middle">series, a sample every ${BROAD_MINUTES / 60} hours each</text>`,
    ...days.map((each, index) =>
      line(
        shown.filter((point) => point.days === each).toSorted((a, b) => a.series - b.series),
        index,
        x,
        y,
      ),
    ),
    ...labels(shown, days, y),
  ]
  return drawPlot(
    {
      width: WIDTH,
      height: HEIGHT,
      label: 'Milliseconds by number of series, a line for each number of days',
    },
    parts,
  )
}

function timesOf(points: readonly CurvePoint[]): number[] {
  return points.map(({ medianMs }) => medianMs)
}

function horizontal(at: number, label: string): string {
  return `<line class="grid" x1="${PLOT.left}" y1="${at}" x2="${PLOT.right}" y2="${at}"/><text x="${PLOT.left - 8}" y="${at + 4}" text-anchor="end">${label}</text>`
}

function vertical(at: number, label: string): string {
  return `<line class="grid" x1="${at}" y1="${PLOT.top}" x2="${at}" y2="${PLOT.bottom}"/><text x="${at}" y="${PLOT.bottom + 20}" text-anchor="middle">${label}</text>`
}

function line(
  points: readonly CurvePoint[],
  index: number,
  x: (series: number) => number,
  y: (ms: number) => number,
): string {
  const { colour, dash } = strokeOf(index)
  const places = points.map(({ series, medianMs }) => [x(series), y(medianMs)] as const)
  const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`)
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}" points="${places.map((place) => place.join()).join(' ')}"/>${dots.join('')}`
}

/** Beside the ends of lines, moved apart where these are near each other. */
function labels(points: readonly CurvePoint[], days: readonly number[], y: (ms: number) => number): string[] {
  const ends = days
    .map((each, index) => {
      const last = points
        .filter((point) => point.days === each)
        .toSorted((a, b) => a.series - b.series)
        .at(-1)
      return { each, index, last, at: y(last?.medianMs ?? 1) }
    })
    .toSorted((a, b) => b.at - a.at)
  let above = Infinity
  return ends.map(({ each, index, last, at }) => {
    above = Math.min(at, above - 18)
    const text = `${each} ${each === 1 ? 'day' : 'days'}, ${milliseconds(last?.medianMs ?? 0)}`
    return `<circle cx="${PLOT.right + 14}" cy="${above}" r="4" fill="${strokeOf(index).colour}"/><text x="${PLOT.right + 24}" y="${above + 4}">${text}</text>`
  })
}

function strokeOf(index: number): { readonly colour: string; readonly dash: string } {
  return STROKES[index % STROKES.length] ?? { colour: '#2563eb', dash: '' }
}

function milliseconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms * 10) / 10} ms` : `${Math.round(ms / 100) / 10} s`
}

function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f')
}
