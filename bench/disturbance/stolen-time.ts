import { readFileSync } from 'node:fs'

/** Time of all processors since the machine was started, and what of it the host gave to others; of any unit. */
export interface ProcessorTime {
  readonly total: number
  readonly stolen: number
}

/** Columns of the first line of `/proc/stat` that make up its time; those after them, of guests, are counted in them already (`man 5 proc_stat`). */
const COLUMNS = 8
const STOLEN = 7

/** Reads it; null where the system does not tell. */
export function readProcessorTime(): ProcessorTime | null {
  try {
    return parseProcessorTime(readFileSync('/proc/stat', 'utf8'))
  } catch {
    return null
  }
}

/** Reads the text of `/proc/stat`; null if it does not tell stolen time. */
export function parseProcessorTime(text: string): ProcessorTime | null {
  const times = /^cpu +([\d ]+)$/m.exec(text)?.[1]?.split(' ').slice(0, COLUMNS).map(Number)
  const stolen = times?.[STOLEN]
  if (times === undefined || stolen === undefined) return null
  return { total: times.reduce((sum, one) => sum + one, 0), stolen }
}

/** The share of the time between two readings that the host took, 0 to 1; null where the system does not tell, or no time has passed. */
export function stolenShare(before: ProcessorTime | null, after: ProcessorTime | null): number | null {
  if (before === null || after === null || after.total <= before.total) return null
  return (after.stolen - before.stolen) / (after.total - before.total)
}
