import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { dirname } from 'node:path'
import process from 'node:process'
import { formatDisturbance } from './disturbance/disturbance.ts'
import type { Figure } from './measurement.ts'
import type { BenchOptions } from './options.ts'

/** Writes the figures, the options and the machine as JSON. The key is left out. */
export function writeResults(options: BenchOptions, startedAt: Date, figures: readonly Figure[]): void {
  const { key: _, ...shown } = options
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  }
  mkdirSync(dirname(options.out), { recursive: true })
  const results = { startedAt: startedAt.toISOString(), machine, options: shown, figures }
  writeFileSync(options.out, `${JSON.stringify(results, null, 2)}\n`)
}

/** The figures as a table for people. */
export function formatFigures(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, perSecond, unit, latency }) => [
    name,
    perSecond === undefined ? '' : `${Math.round(perSecond)} ${unit ?? ''}/s`,
    ...(latency ? [latency.medianMs, latency.p99Ms, latency.maxMs].map((ms) => ms.toFixed(1)) : ['', '', '']),
  ])
  const table = [['', 'rate', 'median ms', 'p99 ms', 'max ms'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return table
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}

/** What kept the machine from its work, a line for each measurement, named by its first figure. */
export function formatDisturbances(figures: readonly Figure[]): string {
  const byMeasurement = Map.groupBy(figures, ({ disturbance }) => disturbance)
  return [...byMeasurement]
    .flatMap(([disturbance, [first]]) =>
      disturbance && first ? [`${first.name}: ${formatDisturbance(disturbance)}`] : [],
    )
    .join('\n')
}
