/** Loaded into a service that is measured: on SIGUSR2 it writes down how long its event loop was held since the last one, and begins anew. */
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'

const RESOLUTION_MS = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delay.enable()
const file = process.env['BENCH_EVENT_LOOP_FILE'] ?? ''
if (file !== '') {
  process.on('SIGUSR2', () => {
    const report = { medianMs: beyondMs(delay.percentile(50)), p99Ms: beyondMs(delay.percentile(99)) }
    writeFileSync(file, JSON.stringify({ ...report, maxMs: beyondMs(delay.max) }))
    delay.reset()
  })
}

/** What is recorded is the time between two turns of the probe's own timer. */
function beyondMs(nanoseconds: number): number {
  return Math.max(0, Math.round(nanoseconds / 1e5 - 10 * RESOLUTION_MS) / 10)
}
