import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ExportedMessage } from './message.ts'

/** What waits in the queue of a channel. */
export interface QueuedBytes {
  readonly projectId: number
  readonly channel: string
  readonly bytes: number
}

/** Keeps what waits to be delivered within bounds. */
export interface QueueBound {
  /** Throws `resource_exhausted` when exports would make more wait than may; for use before anything is stored. */
  admit(projectId: number, messages: readonly ExportedMessage[]): Promise<void>
}

export interface QueueBoundDependencies {
  /** What waits now, channels without anything left out. */
  measure(): Promise<readonly QueuedBytes[]>
  readonly clock: Clock
  /** What may wait in all; half of it for one project, a quarter for one channel. */
  readonly maxBytes: number
}

const MEASURE_EVERY_MS = 1000
const PROJECT_SHARE = 1 / 2
const CHANNEL_SHARE = 1 / 4
const RETRY_AFTER_SECONDS = 60

/** Measures at most once a second and adds what was admitted since, so the bound is met but for what other processes admit meanwhile. */
export function createQueueBound({ measure, clock, maxBytes }: QueueBoundDependencies): QueueBound {
  let waiting = new Map<string, number>()
  let measuredAt = Number.NEGATIVE_INFINITY
  let measuring: Promise<void> | null = null

  async function measureAgain(): Promise<void> {
    const startedAt = clock.monotonic()
    const sums = new Map<string, number>()
    for (const { projectId, channel, bytes } of await measure()) {
      for (const key of keysOf(projectId, channel)) sums.set(key, (sums.get(key) ?? 0) + bytes)
    }
    waiting = sums
    measuredAt = startedAt
  }

  return {
    async admit(projectId, messages) {
      if (clock.monotonic() - measuredAt >= MEASURE_EVERY_MS) {
        measuring ??= measureAgain().finally(() => (measuring = null))
        await measuring
      }
      const incoming = new Map<string, number>()
      for (const { channel, data } of messages) {
        for (const key of keysOf(projectId, channel)) {
          incoming.set(key, (incoming.get(key) ?? 0) + data.byteLength)
        }
      }
      for (const [key, bytes] of incoming) {
        const present = waiting.get(key) ?? 0
        const max = maxBytes * shareOf(key)
        // What comes into an empty queue always passes, so that nothing is too large to ever be accepted.
        if (present > 0 && present + bytes > max) throw exhausted(key, present, max)
      }
      for (const [key, bytes] of incoming) waiting.set(key, (waiting.get(key) ?? 0) + bytes)
    },
  }
}

/** A channel, its project, and all of them. */
function keysOf(projectId: number, channel: string): readonly string[] {
  return [`${projectId}/${channel}`, String(projectId), '']
}

function shareOf(key: string): number {
  if (key === '') return 1
  return key.includes('/') ? CHANNEL_SHARE : PROJECT_SHARE
}

function exhausted(key: string, present: number, max: number): ServiceError {
  const channel = key.includes('/') ? key.slice(key.indexOf('/') + 1) : null
  const where =
    channel === null ? (key === '' ? 'all channels' : 'the channels of the project') : `channel "${channel}"`
  return new ServiceError(
    'resource_exhausted',
    `export: ${present} bytes wait to be delivered in ${where}, at most ${max} may; look at what the receivers answer, ` +
      'or raise MILLRACE_WEBHOOK_QUEUE_BYTES',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
