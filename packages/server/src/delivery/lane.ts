import type { Attempt } from './attempt.ts'
import type { ChannelLimits, Destination } from './channel.ts'
import type { LaneIds } from './due-lanes.ts'

/** Who holds a lane. The epoch rises with every claim, so whoever held it before can be told from whoever holds it now. */
export interface LaneClaim {
  readonly laneId: number
  readonly owner: string
  readonly epoch: number
}

/** The memory of a lane between attempts. */
export interface LaneState {
  /** Failed attempts in a row. */
  readonly failures: number
  readonly failingSinceAt: number | null
  /** Answers in a row that may concern the content (DL-4). */
  readonly refusals: number
  /** Messages a batch may have for now; null is what the channel allows (DL-7). */
  readonly batchLimit: number | null
  readonly cursorSeq: number
}

/** A lane as its owner gets it. */
export interface ClaimedLane extends Destination {
  readonly claim: LaneClaim
  readonly projectId: number
  readonly channel: string
  /** Host and port of its url. */
  readonly host: string
  readonly limits: ChannelLimits
  readonly agesFromAt: number
  /** True remembers what is needed to retract a message later (DL-13). */
  readonly isRetracting: boolean
  readonly state: LaneState
  /** What it sends first, read with the claim; null if that has to be looked for. */
  readonly first: Batch | null
}

/** A message that waits. */
export interface QueuedMessage {
  readonly seq: number
  readonly eventId: number
  readonly version: number
  readonly chain: string
  readonly blockNumber: number
  readonly hash: string
  readonly body: Uint8Array
  readonly enqueuedAt: number
  readonly tries: number
}

/** What is sent in one request: messages in order of arrival, or one shelved message on its own schedule (DL-4). */
export interface Batch {
  readonly isShelved: boolean
  readonly messages: readonly QueuedMessage[]
}

/** Which messages go into the next request of a lane. */
export interface BatchRequest {
  readonly afterSeq: number
  readonly nowMs: number
  readonly maxMessages: number
  readonly maxBytes: number
}

/** Everything that one attempt changes, applied in one transaction. */
export interface Settlement {
  readonly attempt: Attempt
  readonly acknowledged: readonly QueuedMessage[]
  readonly buried: readonly QueuedMessage[]
  readonly shelved: readonly { readonly seq: number; readonly tries: number; readonly untilAt: number }[]
  readonly lane: LaneState
  /** The cursor that the attempt started from. Where the lane has another, its memory was lost in a crash, and the claim does not stand. */
  readonly fromCursorSeq: number
  readonly nextAttemptAt: number
  /** Failed attempts, for the dead letter. */
  readonly attempts: number
  readonly disabledReason: string | null
  readonly settledAt: number
  /** True remembers what is needed to retract what is acknowledged (DL-13). */
  readonly isRetracting: boolean
  /** What would go next, to be read with it; `hold` keeps the lease for requests that are under way and reads nothing; null gives it back. */
  readonly next: BatchRequest | 'hold' | null
}

/**
 * What a settlement left: the lane has another owner (`lost`); the lease was given back (`released`), because that was asked
 * for or because nothing goes next; or the lane is `held`, with what goes next, or null if that has to be looked for.
 */
export type Settled =
  { readonly state: 'lost' | 'released' } | { readonly state: 'held'; readonly next: Batch | null }

export interface ClaimRequest {
  readonly owner: string
  readonly nowMs: number
  readonly leaseMs: number
  /** Lanes at most, and how many of them may be failing ones (DL-9). */
  readonly limit: number
  readonly failingLimit: number
  /** Requests that one host may have under way from here, and how many each has (DL-9). */
  readonly hostLimit: number
  readonly busyHosts: ReadonlyMap<string, number>
  /** Lanes that the claimer is serving: not again, whatever the clock did to their leases. */
  readonly exceptLaneIds: readonly number[]
  /** Those that are looked at; of all others nothing is read. */
  readonly among: LaneIds
}

/**
 * Where lanes live. Whatever a settlement says about the lane, and burying and shelving, happens only while the claim
 * stands; an acknowledgement counts in any case, because the receiver has the messages (DL-6).
 */
export interface LaneStore {
  /** The ids of lanes that have something to send now and that nobody holds, those that waited longest first, `limit` at most. */
  ready(nowMs: number, limit: number): Promise<readonly number[]>
  /** Takes such lanes, failing ones first, up to their share. */
  claim(request: ClaimRequest): Promise<readonly ClaimedLane[]>
  /** Prolongs the lease; false when the lane has another owner by now. */
  renew(claim: LaneClaim, leaseUntilAt: number): Promise<boolean>
  nextBatch(claim: LaneClaim, request: BatchRequest): Promise<Batch | null>
  /**
   * Remembers, before a request, that the receiver may have its messages from now on; for channels that retract
   * (DL-13). False when one of them was replaced or withdrawn meanwhile: then none is to be sent.
   */
  announce(claim: LaneClaim, messages: readonly QueuedMessage[], nowMs: number): Promise<boolean>
  settle(claim: LaneClaim, settlement: Settlement): Promise<Settled>
  /** Ends every lease; only for an instance that shares the lanes with no other, when it starts. */
  releaseAll(): Promise<void>
  release(claim: LaneClaim, servedAt: number): Promise<void>
}

/** What goes into the next request of a lane in this state. */
export function batchRequest(
  { maxBatchMessages, maxBatchBytes }: ChannelLimits,
  { cursorSeq, batchLimit }: LaneState,
  nowMs: number,
): BatchRequest {
  return {
    afterSeq: cursorSeq,
    nowMs,
    maxMessages: Math.min(maxBatchMessages, batchLimit ?? Infinity),
    maxBytes: maxBatchBytes,
  }
}
