import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contender.ts'
import { feed } from './feed.ts'
import { inArena } from './open-loop.ts'
import type { Arrival } from './sink.ts'

/** What is left after processes were killed. */
export interface KillResult {
  readonly accepted: number
  /** Accepted, and never delivered. */
  readonly lost: number
  readonly repeated: number
  /** From the last start until everything had arrived, in seconds; null if something never did. */
  readonly recoverySeconds: number | null
}

const CHANNELS = 10

/** Messages flow; worker and server are killed with SIGKILL in turn, and started again. */
export async function kill(
  contender: Contender,
  {
    perSecond,
    kills,
    patienceSeconds,
  }: { readonly perSecond: number; readonly kills: number; readonly patienceSeconds: number },
): Promise<KillResult> {
  return inArena(contender, CHANNELS, async (arena) => {
    const { sink, server } = arena
    await sink.behave({ latencyMs: 50 })
    const feeding = feed((messages) => arena.enqueue(messages), {
      perSecond,
      seconds: kills * 3 + 2,
      channels: CHANNELS,
      firstN: 0,
    })
    for (let killed = 0; killed < kills; killed += 1) {
      await sleep(2000)
      if (contender.server !== 'none' && killed % 2 === 1) await server.crash()
      else {
        await arena.worker.kill()
        await arena.restartWorker()
      }
    }
    const restartedAt = performance.now()
    const { accepted } = await feeding
    for (;;) {
      const report = await sink.report(true)
      const seconds = (performance.now() - restartedAt) / 1000
      const lost = missing(accepted, report.arrivals)
      if (lost === 0 || seconds > patienceSeconds) {
        return {
          accepted: accepted.length,
          lost,
          repeated: report.messages - report.distinct,
          recoverySeconds: lost > 0 ? null : seconds,
        }
      }
      await sleep(200)
    }
  })
}

/** How many did not arrive. What nobody was told is stored may be all the same, and makes up for nothing. */
export function missing(accepted: readonly number[], arrivals: readonly Arrival[]): number {
  const arrived = new Set(arrivals.map(([n]) => n))
  return accepted.filter((n) => !arrived.has(n)).length
}
