import { ServiceError } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Attempt, AttemptStore } from './attempt.ts'
import { joinBodies } from './batch.ts'
import type { Channel, ChannelStore } from './channel.ts'
import { serializeMessage } from './message.ts'
import { describeOutcome, type DeliveryRequest, type Endpoint } from './outcome.ts'

/** The export name of a sample: receivers can tell it from messages of the processor. */
export const TEST_EXPORT_NAME = 'millrace_test'

export interface TestChannelDependencies {
  readonly store: ChannelStore
  readonly attempts: AttemptStore
  readonly endpoint: Endpoint
  readonly clock: Clock
  readonly timeoutMs: number
  /** The headers that a request is sent with. */
  readonly headersOf: (request: DeliveryRequest) => Readonly<Record<string, string>>
}

/** A sample that was sent, and what came of it. */
export interface ChannelTested {
  readonly attempt: Attempt
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Sends a sample message at once, outside of the queue and whatever the state of the channel, and answers what came of
 * it (DL-12). The sample is signed like any message, has an event id of its own and is recorded as an attempt.
 */
export type TestChannel = (channel: Channel) => Promise<ChannelTested>

export function createTestChannel(dependencies: TestChannelDependencies): TestChannel {
  const { store, attempts, endpoint, clock, timeoutMs, headersOf } = dependencies
  return async (channel) => {
    const startedAt = clock.now()
    const destination = await store.destination(channel.id, startedAt)
    if (destination === null) {
      throw new ServiceError(
        'failed_precondition',
        `channel "${channel.name}" has no url to send a sample to`,
      )
    }
    const eventId = await store.takeEventId(channel.id)
    const webhookId = `msg_test_${channel.id}_${eventId}`
    const body = joinBodies([sample(channel, eventId, startedAt)])
    const timestampSeconds = Math.floor(startedAt / 1000)
    const request = { ...destination, body, webhookId, timestampSeconds }
    const { outcome, durationMs, answer } = await endpoint.send(request, { timeoutMs })
    const attempt: Attempt = {
      webhookId,
      startedAt,
      durationMs: Math.round(durationMs),
      outcome: outcome.kind,
      status: 'status' in outcome ? outcome.status : null,
      reason: describeOutcome(outcome),
      messages: 1,
      bytes: body.byteLength,
      firstEventId: eventId,
      lastEventId: eventId,
      answer,
    }
    await attempts.record(channel.id, attempt)
    return { attempt, url: request.url, headers: headersOf(request), body }
  }
}

function sample(channel: Channel, eventId: number, nowMs: number): Uint8Array {
  const data = {
    channel: channel.name,
    text: 'A sample message. Real ones carry what the processor exports.',
  }
  return serializeMessage(
    {
      channel: channel.name,
      exportName: TEST_EXPORT_NAME,
      chain: '',
      blockNumber: 0,
      position: 0,
      timestampMicros: nowMs * 1000,
      version: 0,
      data: Buffer.from(JSON.stringify(data)),
    },
    eventId,
  )
}
