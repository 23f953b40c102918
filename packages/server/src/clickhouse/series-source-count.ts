import type { ReadingReport } from '../metrics/series-source.ts'
import type { FactEngine, StatementOptions } from './fact-engine.ts'
import { HISTORY_KEY, type ScanStatement } from './series-source-scan.ts'

/** Counts what the statements of one reading read. */
export interface ReadingCount {
  /** Counts rows of a statement: `place` is a cell, or the history before all cells. */
  of(statement: ScanStatement, cells: number): (place: number, samples: number) => void
  /** Adds what a statement is expected to read. */
  estimate(rows: number): void
  total(): Pick<ReadingReport, 'rollups' | 'samplesRead' | 'samplesInRollups' | 'estimatedRows'>
}

/** The length of the buckets of the only rollup that there is. */
const HOURS = '1h'

/** Nothing counted yet. */
export function createReadingCount(): ReadingCount {
  let [samplesRead, samplesInRollups] = [0, 0]
  let estimatedRows: number | null = null
  let readsHours = false
  return {
    of({ spans, isHistoryHourly }, cells) {
      const isHourly = new Uint8Array(cells)
      for (const span of spans) if (span.isHourly) isHourly.fill(1, span.first, span.end)
      readsHours ||= isHistoryHourly || spans.some((span) => span.isHourly)
      return (place, samples) => {
        if (place === HISTORY_KEY ? isHistoryHourly : isHourly[place] === 1) samplesInRollups += samples
        else samplesRead += samples
      }
    },
    estimate(rows) {
      estimatedRows = (estimatedRows ?? 0) + rows
    },
    total: () => ({ rollups: readsHours ? [HOURS] : [], samplesRead, samplesInRollups, estimatedRows }),
  }
}

/** The rows of the blocks that a statement would read, by the engine's own estimate. */
export async function estimateRows(
  engine: FactEngine,
  sql: string,
  metric: string,
  options: StatementOptions,
): Promise<number> {
  const rows = await engine.rows<{ rows: string }>(`explain estimate ${sql}`, {
    ...options,
    parameters: { metric },
  })
  return rows.reduce((total, each) => total + Number(each.rows), 0)
}
