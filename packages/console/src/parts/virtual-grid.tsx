import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type ReactNode } from 'react'

/** A column of a grid. */
export interface GridColumn {
  readonly name: string
  /** A second word in the head, e.g. the type. */
  readonly aside?: string
  readonly isNumber?: boolean
  /** Characters. */
  readonly width: number
}

const ROW_HEIGHT = 32

/** A table of any length: only the rows in sight exist. */
export function VirtualGrid({
  label,
  columns,
  rowCount,
  cell,
  onNearEnd,
  height = '60vh',
}: {
  readonly label: string
  readonly columns: readonly GridColumn[]
  readonly rowCount: number
  readonly cell: (row: number, column: number) => ReactNode
  /** Called when the last rows come into sight. */
  readonly onNearEnd?: () => void
  readonly height?: string
}) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: rowCount,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (rowCount > 0 && last >= rowCount - 50) onNearEnd?.()
  }, [last, rowCount, onNearEnd])
  const widths = columns.map(({ width }) => `${width}ch`)
  return (
    <div
      ref={box}
      className="grid"
      style={{ maxHeight: height }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <div role="table" aria-label={label} aria-rowcount={rowCount + 1} aria-colcount={columns.length}>
        <div role="row" className="grid-row grid-head" aria-rowindex={1}>
          {columns.map(({ name, aside, isNumber }, index) => (
            <div
              key={index}
              role="columnheader"
              className={isNumber ? 'grid-cell number' : 'grid-cell'}
              style={{ width: widths[index] }}
              title={aside === undefined ? name : `${name} · ${aside}`}
            >
              {name}
              {aside !== undefined && <span className="aside">{aside}</span>}
            </div>
          ))}
        </div>
        <div className="grid-body" role="rowgroup" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              className="grid-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              {columns.map(({ isNumber }, place) => (
                <div
                  key={place}
                  role="cell"
                  className={isNumber ? 'grid-cell number' : 'grid-cell'}
                  style={{ width: widths[place] }}
                >
                  {cell(index, place)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}
