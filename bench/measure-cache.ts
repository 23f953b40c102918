import { DATA_DAYS } from './data-set.ts'
import { PROJECT } from './api.ts'
import { summarise, timeOnce, timeRepeats } from './latency.ts'
import type { Figure, Measurement } from './measurement.ts'

const CLIENTS = 8
const STAMPEDE = 1000
const PANELS = 40
const PATH = `/metrics/${PROJECT}/query_range`

interface Answer {
  readonly compute_stats: { readonly computed_at: string }
}

/** Exact repeats of a large answer with one client and with eight, a dashboard whose `now` moves on, and equal misses at once. */
export const measureCache: Measurement = async ({ options, api, endAt, progress }) => {
  const figures: Figure[] = []
  const large = {
    queries: [{ id: 'a', query: 'bench_gauge' }],
    timeRange: { start: endAt - DATA_DAYS * 86_400_000, end: endAt, step: 3 * 3600 },
    samplesLimit: 100,
  }
  progress('cache: exact repeats')
  await api.post(PATH, large)
  const bytes = await api.drain(PATH, large)
  const ask = () => api.drain(PATH, large)
  const alone = await timeRepeats(options.repeats * 20, ask)
  const durations: number[] = []
  const rounds = Array.from({ length: CLIENTS }, () => timeEach(options.repeats * 20, ask, durations))
  const elapsedMs = await timeOnce(() => Promise.all(rounds))
  const size = `${Math.round(bytes / 1000)} kB`
  figures.push(
    { name: `cache, exact repeats of ${size}, 1 client`, latency: alone },
    {
      name: `cache, exact repeats of ${size}, ${CLIENTS} clients`,
      perSecond: (durations.length / elapsedMs) * 1000,
      unit: 'answers',
      latency: summarise(durations),
    },
  )

  progress('cache: a dashboard that follows now')
  for (let series = 0; series < PANELS; series++) await api.post(PATH, panel(series))
  const dashboard = await timeRepeats(PANELS * 5, (index) => api.drain(PATH, panel(index % PANELS)))
  figures.push({ name: `cache, dashboard of ${PANELS} queries up to now`, latency: dashboard })

  progress('cache: equal misses at once')
  const miss = { ...large, samplesLimit: 1 }
  const answers = await Promise.all(Array.from({ length: STAMPEDE }, () => api.post(PATH, miss)))
  const computations = new Set((answers as Answer[]).map(({ compute_stats: stats }) => stats.computed_at))
  if (computations.size !== 1) throw new Error(`${STAMPEDE} equal misses computed ${computations.size} times`)
  return figures
}

/** A panel of a dashboard, up to now. */
function panel(series: number) {
  return {
    queries: [{ id: 'a', query: 'bench_gauge', labelSelector: { series: String(series) } }],
    timeRange: { start: `now-${DATA_DAYS}d`, end: 'now', step: 3600 },
  }
}

async function timeEach(count: number, ask: () => Promise<unknown>, into: number[]): Promise<void> {
  for (let i = 0; i < count; i++) into.push(await timeOnce(ask))
}
