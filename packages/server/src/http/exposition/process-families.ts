import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Family } from './family.ts'

/** What the operating system and the runtime say of this process; the names are those of Prometheus' own clients. */
export function createProcessFamilies(): () => readonly Family[] {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  const startedAt = Date.now() / 1000 - process.uptime()
  return () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const families: readonly Family[] = [
      gauge('process_start_time_seconds', 'Unix time at which this process started.', startedAt),
      {
        name: 'process_cpu_seconds_total',
        help: 'Processor time of this process, without that of the embedded engine.',
        type: 'counter',
        samples: [{ value: (user + system) / 1e6 }],
      },
      gauge('process_resident_memory_bytes', 'Memory of this process, without the embedded engine.', rss),
      gauge('nodejs_heap_size_used_bytes', 'Of that, what objects of JavaScript use.', heapUsed),
      {
        name: 'nodejs_eventloop_lag_seconds',
        help: 'How late this process came to what was due, since it was last asked.',
        type: 'gauge',
        samples: [
          { labels: { quantile: '0.5' }, value: delays.percentile(50) / 1e9 },
          { labels: { quantile: '0.99' }, value: delays.percentile(99) / 1e9 },
          { labels: { quantile: '1' }, value: delays.max / 1e9 },
        ],
      },
    ]
    delays.reset()
    return families
  }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ value }] }
}
