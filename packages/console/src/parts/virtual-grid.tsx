import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

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
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }

/** A table of any length: only the rows in sight exist. With `onOpen`, rows open by a press, or by arrows and Enter. */
export function VirtualGrid({
  label,
  columns,
  rowCount,
  cell,
  onNearEnd,
  onOpen,
  height = '60vh',
}: {
  readonly label: string
  readonly columns: readonly GridColumn[]
  readonly rowCount: number
  readonly cell: (row: number, column: number) => ReactNode
  /** Called when the last rows come into sight. */
  readonly onNearEnd?: () => void
  readonly onOpen?: (row: number) => void
  readonly height?: string
}) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<number | null>(null)
  const rows = useVirtualizer({
    count: rowCount,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollPaddingStart: ROW_HEIGHT,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (rowCount > 0 && last >= rowCount - 50) onNearEnd?.()
  }, [last, rowCount, onNearEnd])
  const onKeyDown = (event: KeyboardEvent) => {
    if (!onOpen || rowCount === 0) return
    const step = STEPS[event.key]
    if (step !== undefined) {
      const next = active === null ? 0 : Math.min(rowCount - 1, Math.max(0, active + step))
      setActive(next)
      rows.scrollToIndex(next)
      event.preventDefault()
    } else if (event.key === 'Enter' && active !== null) {
      onOpen(active)
      event.preventDefault()
    }
  }
  const isActiveShown = shown.some(({ index }) => index === active)
  const widths = columns.map(({ width }) => `${width}ch`)
  return (
    <div
      ref={box}
      className="grid"
      style={{ maxHeight: height }}
      tabIndex={0}
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-readonly
      {...(isActiveShown ? { 'aria-activedescendant': `${id}-${active}` } : {})}
      onKeyDown={onKeyDown}
    >
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
            id={`${id}-${index}`}
            role="row"
            aria-rowindex={index + 2}
            className={`grid-row${index === active ? ' active' : ''}${onOpen ? ' opens' : ''}`}
            style={{ transform: `translateY(${start}px)` }}
            {...(onOpen
              ? {
                  onClick: () => {
                    // A press that selected text was meant to copy it.
                    if (String(getSelection()) !== '') return
                    setActive(index)
                    onOpen(index)
                  },
                }
              : {})}
          >
            {columns.map(({ isNumber }, place) => (
              <div
                key={place}
                role="gridcell"
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
  )
}
