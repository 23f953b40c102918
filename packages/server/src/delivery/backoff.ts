/** How a lane waits after failures (DL-3). */
export interface Backoff {
  readonly initialMs: number
  readonly capMs: number
}

/**
 * Milliseconds to wait after the `failures`-th failure in a row: initial × 2^(failures−1) up to the cap, the upper
 * half of it random, so that lanes that failed together do not return together. `random` is in [0, 1).
 */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  const full = Math.min(backoff.capMs, backoff.initialMs * 2 ** Math.min(failures - 1, 60))
  return Math.round(full / 2 + (full / 2) * random)
}

/** A wait raised by the endpoint's `Retry-After`, which may go as far as the cap and never shortens it. */
export function raiseByRetryAfter(waitMs: number, retryAfterMs: number | null, backoff: Backoff): number {
  return Math.max(waitMs, Math.min(retryAfterMs ?? 0, backoff.capMs))
}
