import type { Latency } from '../latency.ts'
import { startDiskProbe } from './disk-probe.ts'
import { readProcessorTime, stolenShare } from './stolen-time.ts'
import { startTimerProbe } from './timer-probe.ts'

/** What kept the machine from its work while something was measured: figures of different hours mean something only beside it. */
export interface Disturbance {
  /** Share of the processors' time that the host of a virtual machine took, 0 to 1; null where the system does not tell. */
  readonly stolenShare: number | null
  /** By how much an idle thread was woken too late. */
  readonly timerLate: Latency
  /** How long the disk took to keep a page. */
  readonly diskSync: Latency
}

/** Watches the machine until the function that it returns is called. */
export async function watchDisturbance(): Promise<() => Promise<Disturbance>> {
  const endTimerProbe = await startTimerProbe()
  const endDiskProbe = await startDiskProbe()
  const before = readProcessorTime()
  return async () => {
    const share = stolenShare(before, readProcessorTime())
    const [timerLate, diskSync] = await Promise.all([endTimerProbe(), endDiskProbe()])
    return { stolenShare: share, timerLate, diskSync }
  }
}

/** Measures, and watches the machine meanwhile, also if what is measured fails. */
export async function whileWatched<T>(
  measure: () => Promise<T>,
): Promise<{ readonly result: T; readonly disturbance: Disturbance }> {
  const end = await watchDisturbance()
  try {
    return { result: await measure(), disturbance: await end() }
  } catch (error) {
    await end()
    throw error
  }
}

/** One line for people. */
export function formatDisturbance({ stolenShare: share, timerLate, diskSync }: Disturbance): string {
  return [
    share === null
      ? 'the system does not tell what the host took'
      : `the host took ${(100 * share).toFixed(1)} %`,
    `an idle timer came ${timerLate.p99Ms.toFixed(1)} ms late (p99)`,
    `the disk synchronised in ${diskSync.medianMs.toFixed(1)} ms, p99 ${diskSync.p99Ms.toFixed(1)} ms`,
  ].join('; ')
}
