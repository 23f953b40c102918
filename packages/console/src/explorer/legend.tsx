import { memo } from 'react'
import { measuredNumber } from '../parts/format.ts'
import { seriesColour } from '../parts/time-chart.tsx'
import type { ChartData } from './chart-data.ts'

/** The series with their values; pressing one hides or shows it. */
export function Legend({
  series,
  hidden,
  cursor,
  onToggle,
}: {
  readonly series: ChartData['series']
  readonly hidden: ReadonlySet<number>
  /** The place under the pointer, whose values are shown instead of the last. */
  readonly cursor: number | null
  readonly onToggle: (place: number) => void
}) {
  return (
    <div className="legend" role="region" aria-label="Legend" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Series</th>
            {['Min', 'Mean', 'Max', cursor === null ? 'Last' : 'At pointer'].map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.map(({ name, values, id }, place) => (
            <tr key={place} className={hidden.has(place) ? 'hidden' : ''}>
              <Known
                id={id}
                name={name}
                place={place}
                values={values}
                isHidden={hidden.has(place)}
                onToggle={onToggle}
              />
              <td className="number mono">
                {valueText(cursor === null ? figures(values).last : (values[cursor] ?? null))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The cells of a series that do not follow the pointer. */
const Known = memo(function Known({
  id,
  name,
  place,
  values,
  isHidden,
  onToggle,
}: {
  readonly id: string
  readonly name: string
  readonly place: number
  readonly values: readonly (number | null)[]
  readonly isHidden: boolean
  readonly onToggle: (place: number) => void
}) {
  const { min, mean, max } = figures(values)
  return (
    <>
      <td>
        <button type="button" aria-pressed={!isHidden} onClick={() => onToggle(place)}>
          <span className="swatch" style={{ background: seriesColour(place) }} />
          <span className="soft mono">{id}</span> {name}
        </button>
      </td>
      {[min, mean, max].map((value, index) => (
        <td key={index} className="number mono">
          {valueText(value)}
        </td>
      ))}
    </>
  )
})

function valueText(value: number | null): string {
  return value === null ? '–' : measuredNumber(value)
}

interface Figures {
  readonly min: number | null
  readonly mean: number | null
  readonly max: number | null
  readonly last: number | null
}

const known = new WeakMap<readonly (number | null)[], Figures>()

/** Computed once a series: the legend is drawn anew with each move of the pointer. */
function figures(values: readonly (number | null)[]): Figures {
  const before = known.get(values)
  if (before) return before
  const there = values.filter((value) => value !== null)
  const result =
    there.length === 0
      ? { min: null, mean: null, max: null, last: null }
      : {
          min: Math.min(...there),
          mean: there.reduce((sum, value) => sum + value, 0) / there.length,
          max: Math.max(...there),
          last: there.at(-1) ?? null,
        }
  known.set(values, result)
  return result
}
