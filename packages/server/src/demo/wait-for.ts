import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after `timeMs`, or at once when `signal` is aborted. */
export async function waitFor(timeMs: number, signal: AbortSignal): Promise<void> {
  if (timeMs <= 0) return
  await sleep(timeMs, undefined, { signal }).catch(() => undefined)
}
