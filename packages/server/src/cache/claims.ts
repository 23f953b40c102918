import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { FlightStore } from './flight-store.ts'
import { hashKey } from './kept-results.ts'

/** Sees to it that of several instances one computes (CA-4). */
export interface Claims {
  claim(key: string, isRefresh: boolean): Promise<boolean>
  release(key: string): Promise<void>
  /** Gives a key back after a failed refresh. */
  pause(key: string, until: number): Promise<void>
}

/** Where the embedded engines leave room for one instance only, there is nobody to agree with. */
export const SOLE_CLAIMS: Claims = {
  claim: () => Promise.resolve(true),
  release: () => Promise.resolve(),
  pause: () => Promise.resolve(),
}

interface ClaimsOptions {
  readonly store: FlightStore
  /** Names this instance. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** How long the claim of an instance that died holds; longer than computations usually take. */
const CLAIM_MS = 60_000

/** Claims in the control database. When it fails, everybody computes: twice is better than not at all. */
export function createClaims({ store, owner, clock, log }: ClaimsOptions): Claims {
  let expiredAt = Number.NEGATIVE_INFINITY

  async function tolerant<Result>(work: Promise<Result>, instead: Result): Promise<Result> {
    return work.catch((error: unknown) => {
      log.warn({ err: error }, 'cache.claim_failed')
      return instead
    })
  }

  async function expire(): Promise<void> {
    if (clock.monotonic() - expiredAt < CLAIM_MS) return
    expiredAt = clock.monotonic()
    await store.expire(clock.now() - CLAIM_MS)
  }

  return {
    claim: async (key, isRefresh) => {
      await tolerant(expire(), undefined)
      const now = clock.now()
      return tolerant(store.claim(hashKey(key), { owner, now, until: now + CLAIM_MS, isRefresh }), true)
    },
    release: (key) => tolerant(store.release(hashKey(key), owner), undefined),
    pause: (key, until) => tolerant(store.pause(hashKey(key), owner, until), undefined),
  }
}
