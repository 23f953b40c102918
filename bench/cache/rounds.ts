import { summarise, type Latency } from '../latency.ts'
import { createRawClient } from '../raw-client.ts'
import type { Asked } from './systems.ts'

/** What one system made of one kind of request. */
export interface Result {
  readonly what: string
  readonly system: string
  readonly perSecond: number
  readonly latency: Latency
  /** Of the last answer's body, as it was sent. */
  readonly bytes: number
}

export const PANELS = 40
export const ROUNDS = 24
const REPEAT_SECONDS = 3
const WARM_UPS = 5

/** The same large answer again and again. */
export async function repeat(system: Asked, clients: number, endMs: number): Promise<Result> {
  const request = system.large(endMs)
  const durations: number[] = []
  let bytes = 0
  const connections = Array.from({ length: clients }, () => createRawClient(system.url))
  for (const { ask } of connections) for (let i = 0; i < WARM_UPS; i += 1) await ask(request)
  const startedAt = performance.now()
  await Promise.all(
    connections.map(async ({ ask, close }) => {
      while (performance.now() - startedAt < REPEAT_SECONDS * 1000) {
        const askedAt = performance.now()
        bytes = await ask(request)
        durations.push(performance.now() - askedAt)
      }
      close()
    }),
  )
  const perSecond = (durations.length / (performance.now() - startedAt)) * 1000
  const what = `exact repeats, ${clients} client${clients === 1 ? '' : 's'}`
  return { what, system: system.name, perSecond, latency: summarise(durations), bytes }
}

/** A dashboard, one panel after the other, round after round. Between rounds is whatever moves the time on. */
export async function askPanels(
  what: string,
  { name, url }: Pick<Asked, 'name' | 'url'>,
  requestOf: (series: number, round: number) => Buffer,
  betweenRounds: (round: number) => Promise<void> = () => Promise.resolve(),
): Promise<Result> {
  const client = createRawClient(url)
  const durations: number[] = []
  let bytes = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    await betweenRounds(round)
    for (let series = 0; series < PANELS; series += 1) {
      const request = requestOf(series, round)
      const askedAt = performance.now()
      bytes = await client.ask(request)
      // In the first round nothing is known yet.
      if (round > 0) durations.push(performance.now() - askedAt)
    }
  }
  client.close()
  const perSecond = (durations.length / durations.reduce((sum, each) => sum + each, 0)) * 1000
  return { what, system: name, perSecond, latency: summarise(durations), bytes }
}
