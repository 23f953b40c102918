export { withdrawExports, type Withdrawal } from './outbox-withdraw.ts'
import { hash } from 'node:crypto'
import type { ChainHead } from '../delivery/chain-head.ts'
import { checkMessageSize, serializeMessage, type ExportedMessage } from '../delivery/message.ts'
import type { ProjectVersion } from '../ingest/batch.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ControlTransaction } from './database.ts'
import { countersOf } from './lane-counters.ts'
import { holdMessages, passHeads, releaseConfirmed } from './outbox-confirmations.ts'
import { assignEventIds, type IdentifiedMessage } from './outbox-event-ids.ts'
import { findOrCreateLanes, type OutboxLane } from './outbox-lanes.ts'
import { forgetOrphans, retractOrphans } from './outbox-retractions.ts'
import {
  rejectOlderRevisions,
  storeJoining,
  supersedeDead,
  type Joining,
  type Revision,
} from './outbox-revisions.ts'

/** What limits the outbox. */
export interface OutboxLimits {
  /** Bytes of messages that may wait in a channel that has no address yet (IN-7). */
  readonly maxUnconfiguredBytes: number
}

const DEFAULT_LIMITS: OutboxLimits = { maxUnconfiguredBytes: 64 * 1024 * 1024 }

/** What a processor version sends to channels. */
export interface Exports {
  readonly messages: readonly ExportedMessage[]
  /** How far its chains have come with that; empty where nothing depends on it. */
  readonly heads: readonly ChainHead[]
}

/** What came of enqueueing. */
export interface Enqueued {
  /** By the names of channels. */
  readonly warnings: ReadonlyMap<string, string>
  /** Lanes that may have something to send now. */
  readonly laneIds: readonly number[]
}

/**
 * Puts exports into the queues of their channels, inside the transaction that accepts their batch: each gets its event
 * id (EV-1) and a sequence number, replaces a pending older revision, supersedes a dead one, and is left out when the
 * receiver has the same revision already (DL-8). Then does what waited for the chains to come as far: confirmed messages join their queues,
 * orphans are retracted (DL-13). Locks channels in order, so a transaction calls it once. `nowMs` is epoch milliseconds.
 */
export async function enqueueExports(
  tx: ControlTransaction,
  version: ProjectVersion,
  { messages, heads }: Exports,
  nowMs: number,
  limits: OutboxLimits = DEFAULT_LIMITS,
): Promise<Enqueued> {
  for (const message of messages) checkMessageSize(message)
  const byChannel = Map.groupBy(messages, (message) => message.channel)
  const behindHeads = await passHeads(tx, version, heads, [...byChannel.keys()])
  const lanes = messages.length === 0 ? [] : await findOrCreateLanes(tx, version.projectId, byChannel, nowMs)
  if (lanes.length > 0) {
    await enqueueIntoLanes(
      tx,
      lanes.map((lane) => ({ lane, messages: byChannel.get(lane.name) ?? [] })),
      nowMs,
    )
  }
  const laneIds = new Set([...lanes, ...behindHeads].map(({ id }) => id))
  // Also where something came just now: blocks that the chain has left behind already need no waiting.
  const confirming = [...lanes, ...behindHeads].filter(({ confirmations }) => confirmations > 0)
  for (const id of new Set(confirming.map(({ id }) => id))) await releaseConfirmed(tx, id, nowMs)
  for (const lane of behindHeads) if (lane.is_retracting === 1) await retractOrphans(tx, lane.id, nowMs)
  const warnings = new Map<string, string>()
  for (const lane of lanes) {
    if (!lane.isConfigured) warnings.set(lane.name, await checkUnconfigured(tx, lane, limits))
  }
  return { warnings, laneIds: [...laneIds] }
}

/** A lane, and what comes for it. */
interface Incoming {
  readonly lane: OutboxLane
  readonly messages: readonly ExportedMessage[]
}

/** However many lanes there are, the number of statements is the same; only retractions and held messages cost more. */
async function enqueueIntoLanes(
  tx: ControlTransaction,
  incoming: readonly Incoming[],
  nowMs: number,
): Promise<void> {
  const counters = new Map(incoming.map(({ lane }) => [lane.id, lane.counters]))
  const { identified, records } = await assignEventIds(
    tx,
    incoming.flatMap(({ lane, messages }) => messages.map((message) => ({ laneId: lane.id, message }))),
    counters,
    incoming.flatMap(({ lane }) => lane.chunks),
  )
  const revisions = newestOfEach(identified).map((one) => {
    const seq = countersOf(counters, one.laneId).nextSeq++
    return { isNew: one.isNew, revision: revisionOf(one, seq) }
  })
  const inNew = revisions.flatMap(({ isNew, revision }) => (isNew ? [revision] : []))
  const { accepted, superseding } = await rejectOlderRevisions(
    tx,
    revisions.flatMap(({ isNew, revision }) => (isNew ? [] : [revision])),
  )
  for (const { lane } of incoming) {
    if (lane.isRetracting)
      await forgetOrphans(
        tx,
        lane.id,
        eventIdsOf(
          revisions.map(({ revision }) => revision),
          lane,
        ),
      )
  }
  // In the order of the queue, as what waits is counted by where its first message's bytes begin.
  const joiningRevisions = [...inNew, ...accepted].toSorted((one, other) => one.seq - other.seq)
  const joining = { revisions: joiningRevisions, counters: [...counters.values()], records }
  await storeRevisions(tx, incoming, joining, nowMs)
  await supersedeDead(tx, superseding)
}

async function storeRevisions(
  tx: ControlTransaction,
  incoming: readonly Incoming[],
  { revisions, ...joining }: Joining,
  nowMs: number,
): Promise<void> {
  const confirming = new Set(incoming.flatMap(({ lane }) => (lane.confirmations > 0 ? [lane.id] : [])))
  for (const laneId of confirming) {
    await holdMessages(
      tx,
      laneId,
      revisions.filter((revision) => revision.laneId === laneId),
      nowMs,
    )
  }
  const queued = revisions.filter(({ laneId }) => !confirming.has(laneId))
  await storeJoining(tx, { ...joining, revisions: queued }, nowMs)
}

function eventIdsOf(revisions: readonly Revision[], lane: OutboxLane): readonly number[] {
  return revisions.flatMap(({ laneId, eventId }) => (laneId === lane.id ? [eventId] : []))
}

/** One statement cannot touch a row twice; of several revisions in one call the last of the highest version counts. */
function newestOfEach(identified: readonly IdentifiedMessage[]): readonly IdentifiedMessage[] {
  const newest = new Map<string, IdentifiedMessage>()
  for (const one of identified) {
    const key = `${one.laneId}:${one.eventId}`
    const other = newest.get(key)
    if (other && other.message.version > one.message.version) continue
    newest.delete(key)
    newest.set(key, one)
  }
  return [...newest.values()]
}

function revisionOf({ laneId, eventId, message }: IdentifiedMessage, seq: number): Revision {
  const body = serializeMessage(message, eventId)
  return {
    laneId,
    seq,
    eventId,
    body,
    hash: hash('sha256', body, 'base64url'),
    version: message.version,
    chain: message.chain,
    blockNumber: message.blockNumber,
  }
}

/** The warning of IN-7, or the refusal once too much waits: what was accepted is never dropped. */
async function checkUnconfigured(
  tx: ControlTransaction,
  lane: OutboxLane,
  { maxUnconfiguredBytes }: OutboxLimits,
): Promise<string> {
  const { bytes, count } = await tx
    .selectFrom('webhook_message')
    .select((eb) => [
      eb.fn.sum<number | string | null>('body_bytes').as('bytes'),
      eb.fn.countAll().as('count'),
    ])
    .where('lane_id', '=', lane.id)
    .executeTakeFirstOrThrow()
  if (Number(bytes) > maxUnconfiguredBytes) {
    throw new ServiceError(
      'resource_exhausted',
      `channel "${lane.name}" has no url, and the messages that wait in it would exceed ${maxUnconfiguredBytes} bytes; give the channel a url, or delete it`,
      { retryAfterSeconds: 60 },
    )
  }
  return `channel "${lane.name}" has no url yet: ${Number(count)} messages wait in it until it gets one`
}
