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

/** Has work done now and then; returns what ends it. */
export type Repeat = (work: () => void, everyMs: number) => () => void

interface ClaimsOptions {
  readonly store: FlightStore
  /** Names this instance. */
  readonly owner: string
  readonly clock: Clock
  readonly repeat: Repeat
  readonly log: Pick<Logger, 'warn'>
}

/** How long the claim of an instance that died holds; one that lives renews it well before. */
const CLAIM_MS = 60_000
const RENEW_EVERY_MS = 20_000

/** Claims in the control database. When it fails, everybody computes: twice is better than not at all. */
export function createClaims({ store, owner, clock, repeat, log }: ClaimsOptions): Claims {
  let expiredAt = Number.NEGATIVE_INFINITY
  /** What ends the renewing of each claim that this instance has. */
  const renewals = new Map<string, () => void>()

  function keepClaimed(key: string): void {
    stopRenewing(key)
    const renew = async (): Promise<void> => {
      await tolerant(store.renew(hashKey(key), owner, clock.now() + CLAIM_MS), undefined)
    }
    renewals.set(
      key,
      repeat(() => void renew(), RENEW_EVERY_MS),
    )
  }

  function stopRenewing(key: string): void {
    renewals.get(key)?.()
    renewals.delete(key)
  }

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
      const isMine = await tolerant(
        store.claim(hashKey(key), { owner, now, until: now + CLAIM_MS, isRefresh }),
        true,
      )
      if (isMine) keepClaimed(key)
      return isMine
    },
    release: (key) => {
      stopRenewing(key)
      return tolerant(store.release(hashKey(key), owner), undefined)
    },
    pause: (key, until) => {
      stopRenewing(key)
      return tolerant(store.pause(hashKey(key), owner, until), undefined)
    },
  }
}
