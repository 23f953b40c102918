import { setTimeout as sleep } from 'node:timers/promises'
import type { Outgoing } from './contender.ts'
import { messageFor } from './messages.ts'
import { nowMs } from './sink.ts'

const TICK_MS = 10
/** What has not been stored that long after the last message is not waited for. */
const PATIENCE_MS = 10_000

/** What an open loop came to. */
export interface Fed {
  /** Messages that were accepted; their numbers are unique in the run. */
  readonly accepted: readonly number[]
  /** Messages whose acceptance failed, e.g. because a process was killed, or that were not stored within {@link PATIENCE_MS} of the last. */
  readonly refused: number
  /** Why the first of them was not accepted; null if all were, or if it never became known. */
  readonly refusal: string | null
  /** When each was stored, by its number, of the machine's monotonic clock; as {@link nowMs}. */
  readonly storedAt: ReadonlyMap<number, number>
}

/**
 * Enqueues messages at a rate, to channels in turn, whether or not earlier ones have been stored: as blocks do arrive. Each message carries the instant it
 * was due, so that a contender which keeps this process from sending in time has that counted too.
 */
export async function feed(
  enqueue: (messages: readonly Outgoing[]) => Promise<void>,
  {
    perSecond,
    seconds,
    channels,
    firstN,
  }: {
    readonly perSecond: number
    readonly seconds: number
    readonly channels: number
    readonly firstN: number
  },
): Promise<Fed> {
  const startedAt = nowMs()
  // A map of as many would halt this process for a moment whenever it grows, and what is measured with it.
  const storedAts = new Float64Array(Math.ceil(perSecond * seconds)).fill(NaN)
  let refusal: string | null = null
  let n = firstN
  const under = new Set<Promise<void>>()

  async function store(messages: readonly Outgoing[]): Promise<void> {
    try {
      await enqueue(messages)
    } catch (error) {
      refusal ??= error instanceof Error ? error.message : String(error)
      return
    }
    const at = nowMs()
    for (const message of messages) storedAts[message.n - firstN] = at
  }

  for (let tick = 1; tick * TICK_MS <= seconds * 1000; tick += 1) {
    const dueAt = startedAt + tick * TICK_MS
    if (dueAt > nowMs()) await sleep(Math.ceil(dueAt - nowMs()))
    const end = firstN + Math.floor((tick * TICK_MS * perSecond) / 1000)
    const messages = Array.from({ length: end - n }, (_, index) =>
      messageFor(((n + index) * 7919) % channels, n + index, dueAt),
    )
    n = end
    if (messages.length === 0) continue
    const storing = store(messages).finally(() => under.delete(storing))
    under.add(storing)
  }
  const patience = new AbortController()
  await Promise.race([
    Promise.all(under),
    sleep(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => undefined),
  ])
  patience.abort()
  const storedAt = new Map(
    Array.from(storedAts, (at, index) => [firstN + index, at] as const).filter(([, at]) => !Number.isNaN(at)),
  )
  return { accepted: [...storedAt.keys()], refused: n - firstN - storedAt.size, refusal, storedAt }
}
