import { useCallback, useRef, useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { ApiError } from '../api/request.ts'
import { nextPage, runProgress, runSql, type Row, type Statement } from '../api/sql.ts'
import type { Fault } from './sql-editor.tsx'

/** Rows a page. */
export const PAGE_SIZE = 2000

/** Rows that a grid holds at most: a browser's memory, and the height that it can scroll, end somewhere. */
export const ROWS_MAX = 300_000

const PROGRESS_EVERY_MS = 500

/** The run of a statement: what came so far. */
export interface Run {
  readonly state: 'idle' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly startedAt: number
  readonly elapsedMs: number
  /** Rows of tables that the engine has read, as far as it is known. */
  readonly rowsRead: number | null
  /** What it expects to read, while it runs; 0 when it does not say. */
  readonly rowsToRead: number
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
  rowsRead: null,
  rowsToRead: 0,
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
    setRun((before) => ({
      ...before,
      state: 'running',
      startedAt,
      rowsRead: null,
      rowsToRead: 0,
      error: null,
      fault: null,
      cursor: '',
    }))
    const runId = newRunId()
    const timer = setInterval(() => {
      void runProgress(address, runId, own.signal).then(
        ({ rowsRead, rowsToRead = 0 }) =>
          rowsRead !== undefined &&
          setRun((before) =>
            before.state === 'running' && before.startedAt === startedAt
              ? { ...before, rowsRead, rowsToRead }
              : before,
          ),
        () => undefined,
      )
    }, PROGRESS_EVERY_MS)
    try {
      const { result, computeStats, warnings } = await runSql(address, statement, own.signal, {
        isLive,
        runId,
      })
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
        rowsRead: computeStats.rowsRead ?? null,
        warnings: warnings ?? [],
      })
    } catch (error) {
      // A later run has taken over.
      if (controller.current !== own) return
      const elapsedMs = performance.now() - startedAt
      if (own.signal.aborted) setRun({ ...IDLE, state: 'cancelled', elapsedMs })
      else setRun({ ...IDLE, state: 'failed', elapsedMs, error, fault: faultOf(error) })
    } finally {
      clearInterval(timer)
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

/** Chance, as others may run statements too; `crypto.randomUUID` is not there without TLS. */
function newRunId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-')
}

function faultOf(error: unknown): Fault | null {
  if (!(error instanceof ApiError)) return null
  const place = error.details.find(
    (each): each is { position: number } =>
      typeof (each as { position?: unknown } | null)?.position === 'number',
  )
  return place ? { at: place.position - 1, message: error.message } : null
}
