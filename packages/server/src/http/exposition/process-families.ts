import { monitorEventLoopDelay } from 'node:perf_hooks'
import { counter, gauge, type Family } from './family.ts'

const RESOLUTION_MS = 20
const LAG = 'How late this process came to what was due, since it was last asked'

/** What the operating system and the runtime say of this process; the names are those of Prometheus' own clients. */
export function createProcessFamilies(): () => readonly Family[] {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const startedAt = Date.now() / 1000 - process.uptime()
  return () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const families: readonly Family[] = [
      gauge('process_start_time_seconds', 'Unix time at which this process started.', startedAt),
      counter(
        'process_cpu_seconds_total',
        'Processor time of this process, without that of the embedded engine.',
        (user + system) / 1e6,
      ),
      gauge('process_resident_memory_bytes', 'Memory of this process, without the embedded engine.', rss),
      gauge('nodejs_heap_size_used_bytes', 'Of that, what objects of JavaScript use.', heapUsed),
      gauge('nodejs_eventloop_lag_p50_seconds', `${LAG}, in the middle.`, late(delays.percentile(50))),
      gauge(
        'nodejs_eventloop_lag_p99_seconds',
        `${LAG}, of a hundred times the last but one.`,
        late(delays.percentile(99)),
      ),
      gauge('nodejs_eventloop_lag_max_seconds', `${LAG}, at most.`, late(delays.max)),
    ]
    delays.reset()
    return families
  }
}

/** Nanoseconds between two looks, in seconds beyond those that were meant to be between them. */
function late(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
}
