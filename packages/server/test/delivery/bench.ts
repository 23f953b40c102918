import { createLaneStore } from '../../src/database/lane-store.ts'
import { createChannelStore } from '../../src/database/channel-store.ts'
import { createDeadLetterStore } from '../../src/database/dead-letter-store.ts'
import { createAttemptStore } from '../../src/database/attempt-store.ts'
import { enqueueExports, withdrawExports, type Withdrawal } from '../../src/database/outbox.ts'
import { DEFAULT_LIMITS, type ChannelLimits } from '../../src/delivery/channel.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import type { DeliverDependencies } from '../../src/delivery/deliver-dependencies.ts'
import type { ClaimedLane, ClaimRequest, QueuedMessage, Settlement } from '../../src/delivery/lane.ts'
import type { ExportedMessage } from '../../src/delivery/message.ts'
import type { DeliveryRequest, Endpoint, Outcome } from '../../src/delivery/outcome.ts'
import type { TestDatabase } from '../support/databases.ts'

export const PROJECT_ID = 7
/** The processor version that sends exports. */
export const VERSION = { projectId: PROJECT_ID, version: 1 }
const LEASE_MS = 15_000

/** A clock that moves when told to. */
export interface HeldClock {
  now(): number
  monotonic(): number
  advance(ms: number): void
}

export function createHeldClock(): HeldClock {
  let ms = Date.UTC(2026, 0, 1)
  return {
    now: () => ms,
    monotonic: () => ms,
    advance: (by) => {
      ms += by
    },
  }
}

/** One element of what a receiver got. */
export interface Received {
  readonly export_name: string
  readonly event_id: number
  readonly timestamp_micros: number
  readonly version: number
  readonly data: unknown
}

/** A receiver behind the port: answers what the test says and remembers what it acknowledged. */
export interface ScriptedEndpoint extends Endpoint {
  readonly requests: DeliveryRequest[]
  readonly acknowledged: Received[]
  /** Called for each request; the default acknowledges. */
  answer: (messages: readonly Received[], request: DeliveryRequest) => Outcome | Promise<Outcome>
}

export const ACKNOWLEDGED: Outcome = { kind: 'acknowledged', status: 200 }

export function refused(status: number, retryAfterMs: number | null = null): Outcome {
  return { kind: 'refused', status, retryAfterMs }
}

export function createScriptedEndpoint(): ScriptedEndpoint {
  const endpoint: ScriptedEndpoint = {
    requests: [],
    acknowledged: [],
    answer: () => ACKNOWLEDGED,
    async send(request) {
      endpoint.requests.push(request)
      const messages = JSON.parse(Buffer.from(request.body).toString()) as Received[]
      const outcome = await endpoint.answer(messages, request)
      if (outcome.kind === 'acknowledged') endpoint.acknowledged.push(...messages)
      return { outcome, durationMs: 1, answer: Buffer.from('ok') }
    },
  }
  return endpoint
}

/** A claim of whatever is ready; what a test does not say is generous. */
export function claimRequest(owner: string, nowMs: number, parts: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    owner,
    nowMs,
    leaseMs: LEASE_MS,
    limit: 100,
    failingLimit: 100,
    hostLimit: 1000,
    busyHosts: new Map(),
    exceptLaneIds: [],
    among: null,
    ...parts,
  }
}

/** That a receiver acknowledged messages of a lane, which may go on with what is behind them. */
export function acknowledging(
  { state }: Pick<ClaimedLane, 'state'>,
  messages: readonly QueuedMessage[],
  nowMs: number,
): Settlement {
  const afterSeq = messages.at(-1)?.seq ?? state.cursorSeq
  return {
    attempt: {
      webhookId: 'msg_1',
      startedAt: nowMs,
      durationMs: 1,
      outcome: 'acknowledged',
      status: 200,
      reason: '',
      messages: messages.length,
      bytes: 10,
      firstEventId: messages.at(0)?.eventId ?? 0,
      lastEventId: messages.at(-1)?.eventId ?? 0,
      answer: new Uint8Array(),
    },
    acknowledged: messages,
    buried: [],
    shelved: [],
    lane: { ...state, cursorSeq: afterSeq },
    fromCursorSeq: state.cursorSeq,
    nextAttemptAt: 0,
    attempts: 0,
    disabledReason: null,
    settledAt: nowMs,
    isRetracting: false,
    next: { maxMessages: 100, maxBytes: 1_000_000, afterSeq, nowMs },
  }
}

/** Everything a test of the queue needs, on one control database. */
export function createBench({ db }: Pick<TestDatabase, 'db'>) {
  const clock = createHeldClock()
  const endpoint = createScriptedEndpoint()
  const lanes = createLaneStore(db)
  const channels = createChannelStore(db)
  const dependencies: DeliverDependencies = {
    lanes,
    endpoint,
    clock,
    random: () => 1,
    sleep: () => Promise.resolve(),
    leaseMs: LEASE_MS,
    timeoutMs: 5000,
  }

  function claim(owner = 'worker') {
    return lanes.claim(claimRequest(owner, clock.now()))
  }

  return {
    db,
    clock,
    endpoint,
    lanes,
    channels,
    letters: createDeadLetterStore(db),
    attempts: createAttemptStore(db),
    dependencies,
    claim,

    async configure(name = 'alerts', limits: Partial<ChannelLimits> = {}): Promise<number> {
      await channels.create(
        PROJECT_ID,
        name,
        { url: 'https://receiver.example/', secret: 'whsec_AAAA', limits: { ...DEFAULT_LIMITS, ...limits } },
        clock.now(),
      )
      const channel = await channels.find(PROJECT_ID, name)
      if (!channel) throw new Error('no channel')
      return channel.id
    },

    enqueue: (...messages: ExportedMessage[]) =>
      db.transaction().execute((tx) => enqueueExports(tx, VERSION, { messages, heads: [] }, clock.now())),

    withdraw: (withdrawal: Partial<Withdrawal> = {}) =>
      db.transaction().execute((tx) =>
        withdrawExports(tx, {
          ...VERSION,
          chain: '1',
          aboveBlock: 0,
          ...withdrawal,
        }),
      ),

    /** Serves every lane that is ready, until none is. */
    async work(owner = 'worker'): Promise<void> {
      for (;;) {
        const claimed = await claim(owner)
        if (claimed.length === 0) return
        for (const lane of claimed) {
          await deliver(dependencies, lane, clock.monotonic(), new AbortController().signal)
        }
      }
    },

    pending: () =>
      db.selectFrom('webhook_message').select(['lane_id', 'event_id', 'seq']).orderBy('seq').execute(),

    pull: async (limit = 10) =>
      createDeadLetterStore(db).pull(PROJECT_ID, {
        limit,
        channel: null,
        afterId: null,
        nowMs: clock.now(),
      }),
  }
}

export type Bench = ReturnType<typeof createBench>

/** Lets each message die by itself, the first of them first. */
export async function buryEach(bench: Bench, ...messages: readonly ExportedMessage[]): Promise<void> {
  await bench.configure('alerts', { maxBatchMessages: 1, deadLetter: { ageMs: 0, attempts: 1 } })
  bench.endpoint.answer = () => refused(500)
  await bench.enqueue(...messages)
  for (let count = 0; count < messages.length; count += 1) {
    await bench.work()
    bench.clock.advance(3_600_000)
  }
}

/** An export; what a test does not say is the same everywhere. */
export function exported(data: unknown, parts: Partial<ExportedMessage> = {}): ExportedMessage {
  return {
    channel: 'alerts',
    exportName: 'transfer',
    chain: '1',
    blockNumber: 100,
    position: null,
    timestampMicros: 1_700_000_000_000_000,
    version: 1,
    data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)),
    ...parts,
  }
}
