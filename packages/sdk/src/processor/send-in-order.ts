import { isRetryable } from '../client/request.ts'
import type { Spool, SpoolEntry } from './spool.ts'

interface SendOptions {
  readonly spool: Spool | null
  /** Sends once. */
  send(entry: SpoolEntry): Promise<unknown>
  /** Sends until it is accepted, and rejects when it never will be. */
  sendPatiently(entry: SpoolEntry): Promise<unknown>
}

/** Sends batches and rollbacks one at a time, in order. */
export interface OrderedSender {
  /** Resolves with the service's answer, or null when the entry was put in the spool; it has either of them on disk. */
  send(entry: SpoolEntry): Promise<unknown>
  /** Resolves when nothing is in the spool. */
  drain(): Promise<void>
  /** Whether something waits in the spool. */
  isSpooling(): Promise<boolean>
}

/**
 * Without a spool every entry is sent until it is accepted. With one, an entry that finds the service away goes to disk, as do all that follow
 * until the last of them is delivered, so that order holds. Entries that an earlier process left come first.
 */
export function createOrderedSender({ spool, send, sendPatiently }: SendOptions): OrderedSender {
  let draining: Promise<void> | null = null
  let failure: { readonly error: unknown } | null = null

  const throwFailure = () => {
    if (failure) throw failure.error
  }

  async function isWaiting(): Promise<boolean> {
    return spool !== null && (await spool.first()) !== null
  }

  async function drainSpool(spooled: Spool): Promise<void> {
    try {
      for (let entry = await spooled.first(); entry; entry = await spooled.first()) {
        await sendPatiently(entry)
        await spooled.removeFirst()
      }
    } catch (error) {
      failure = { error }
    }
  }

  /** Empties the spool in the background, what is added meanwhile included. */
  function startDraining(spooled: Spool): Promise<void> {
    draining ??= drainAll(spooled)
    return draining
  }

  async function drainAll(spooled: Spool): Promise<void> {
    while (!failure && (await spooled.first())) await drainSpool(spooled)
    draining = null
  }

  return {
    async send(entry) {
      if (!spool) return sendPatiently(entry)
      throwFailure()
      if (!(await isWaiting())) {
        try {
          return await send(entry)
        } catch (error) {
          if (!isRetryable(error)) throw error
        }
      }
      // A full spool: the processor waits, as without one.
      while (!(await spool.add(entry))) {
        await startDraining(spool)
        throwFailure()
      }
      void startDraining(spool)
      return null
    },
    async drain() {
      throwFailure()
      if (!spool) return
      while (await isWaiting()) {
        await startDraining(spool)
        throwFailure()
      }
    },
    isSpooling: isWaiting,
  }
}
