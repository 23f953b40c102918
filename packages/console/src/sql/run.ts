import { useCallback, useRef, useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { ApiError } from '../api/request.ts'
import { nextPage, runSql, type Row, type Statement } from '../api/sql.ts'
import type { Fault } from './sql-editor.tsx'

/** Rows a page. */
export const PAGE_SIZE = 2000

/** Rows that a grid holds at most: a browser's memory, and the height that it can scroll, end somewhere. */
export const ROWS_MAX = 300_000

/** The run of a statement: what came so far. */
export interface Run {
  readonly state: 'idle' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly startedAt: number
  readonly elapsedMs: number
  readonly columns: readonly string[]
  readonly types: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
  /** Where the next page begins; empty when all rows are there. */
  readonly cursor: string
  readonly isCached: boolean
  readonly warnings: readonly string[]
  readonly error: unknown
  readonly fault: Fault | null
}

const IDLE: Run = {
  state: 'idle',
  startedAt: 0,
  elapsedMs: 0,
  columns: [],
  types: {},
  rows: [],
  cursor: '',
  isCached: false,
  warnings: [],
  error: null,
  fault: null,
}

/** Runs statements one at a time, and fetches further pages as they are asked for. */
export function useRun(address: ProjectAddress) {
  const [run, setRun] = useState(IDLE)
  const controller = useRef<AbortController>(null)
  const isFetching = useRef(false)

  const start = async (statement: Statement, isLive: boolean) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    const startedAt = performance.now()
    // The rows stay until others come: what is looked at does not flicker.
    setRun((before) => ({ ...before, state: 'running', startedAt, error: null, fault: null, cursor: '' }))
    try {
      const { result, computeStats, warnings } = await runSql(address, statement, own.signal, { isLive })
      setRun({
        ...IDLE,
        state: 'done',
        startedAt,
        elapsedMs: performance.now() - startedAt,
        columns: result.columns,
        types: result.columnTypes,
        rows: result.rows,
        cursor: result.cursor,
        isCached: computeStats.isCached,
        warnings: warnings ?? [],
      })
    } catch (error) {
      // A later run has taken over.
      if (controller.current !== own) return
      const elapsedMs = performance.now() - startedAt
      if (own.signal.aborted) setRun({ ...IDLE, state: 'cancelled', elapsedMs })
      else setRun({ ...IDLE, state: 'failed', elapsedMs, error, fault: faultOf(error) })
    }
  }

  const more = useCallback(async () => {
    if (isFetching.current || run.cursor === '' || run.rows.length >= ROWS_MAX) return
    isFetching.current = true
    try {
      const { result } = await nextPage(address, run.cursor, controller.current?.signal)
      setRun((before) =>
        before.cursor === run.cursor
          ? { ...before, rows: [...before.rows, ...result.rows], cursor: result.cursor }
          : before,
      )
    } catch (error) {
      setRun((before) => (before.cursor === run.cursor ? { ...before, cursor: '', error } : before))
    } finally {
      isFetching.current = false
    }
  }, [address, run.cursor, run.rows.length])

  return { run, start, more, cancel: () => controller.current?.abort() }
}

function faultOf(error: unknown): Fault | null {
  if (!(error instanceof ApiError)) return null
  const place = error.details.find(
    (each): each is { position: number } =>
      typeof (each as { position?: unknown } | null)?.position === 'number',
  )
  return place ? { at: place.position - 1, message: error.message } : null
}
