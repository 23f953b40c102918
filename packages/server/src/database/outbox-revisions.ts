import { sql, type RawBuilder } from 'kysely'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { countersOf, countersUpdate, type LaneCounters } from './lane-counters.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { slicesOf } from './outbox-slices.ts'

/** A serialised message that may be new to its lane or override an earlier one. */
export interface Revision {
  readonly laneId: number
  readonly seq: number
  readonly eventId: number
  readonly version: number
  readonly hash: string
  readonly chain: string
  readonly blockNumber: number
  readonly body: Uint8Array
}

/** An event id of a lane. */
export type LaneEvent = Pick<Revision, 'laneId' | 'eventId'>

/** Where a lane may know an event id from. */
type Place = 'held' | 'waiting' | 'sent' | 'dead'

interface KnownRevision {
  readonly place: Place
  readonly laneId: number
  readonly eventId: number
  readonly version: number
  readonly hash: string
}

/**
 * Leaves out what DL-8 leaves out: a revision of a lower version than one that is known, and one that equals what waits or, when
 * nothing waits, what the receiver has. Tells as well which of the others supersede a dead one.
 */
export async function rejectOlderRevisions(
  tx: ControlTransaction,
  revisions: readonly Revision[],
): Promise<{ readonly accepted: readonly Revision[]; readonly superseding: readonly Revision[] }> {
  const accepted: Revision[] = []
  const superseding: Revision[] = []
  const known = Map.groupBy(await findKnown(tx, revisions), keyOf)
  for (const revision of revisions) {
    const others = known.get(keyOf(revision)) ?? []
    const at = (place: Place) => others.find((other) => other.place === place)
    const dead = at('dead')
    const isOlder = others.some((other) => other.version > revision.version)
    const current = at('held') ?? at('waiting') ?? (dead ? undefined : at('sent'))
    if (isOlder || current?.hash === revision.hash) continue
    accepted.push(revision)
    if (dead) superseding.push(revision)
  }
  return { accepted, superseding }
}

async function findKnown(
  tx: ControlTransaction,
  revisions: readonly Revision[],
): Promise<readonly KnownRevision[]> {
  if (revisions.length === 0) return []
  // Waiting before sent: a message that is acknowledged between the two reads is then seen as sent.
  const waiting = await findWaiting(tx, revisions)
  const given = givenEvents(tx, revisions)
  const known = (place: Place, table: string, isCurrent = sql``) => sql`
    select ${sql.lit(place)} as place, known.lane_id as "laneId", known.event_id as "eventId", known.version, known.hash
    from ${given} as given cross join ${sql.table(table)} as known
    where known.lane_id = given.lane_id and known.event_id = given.event_id ${isCurrent}`
  const { rows } = await sql<KnownRevision>`
    ${known('held', 'webhook_held_message')} union all ${known('sent', 'webhook_sent')}
    union all ${known('dead', 'webhook_dead_message', sql`and known.is_superseded = 0`)}`.execute(tx)
  return [...waiting, ...rows]
}

interface WaitingRevision extends KnownRevision {
  readonly seq: number
}

/** Those of events that wait in a queue, in order of lanes and `seq`, as everybody locks them. */
export async function findWaiting(
  tx: ControlTransaction,
  events: readonly LaneEvent[],
): Promise<readonly WaitingRevision[]> {
  const given = givenEvents(tx, events)
  const found = hasRowLocks(tx)
    ? sql`(
        select given.* from ${given} as given cross join lateral (${messageOf('given')}) as waiting
        order by given.lane_id, waiting.seq
      ) as ordered cross join lateral (${messageOf('ordered')} for update) as known`
    : sql`${given} as given cross join webhook_message as known
        where known.lane_id = given.lane_id and known.event_id = given.event_id order by known.lane_id, known.seq`
  const { rows } = await sql<WaitingRevision>`
    select 'waiting' as place, known.lane_id as "laneId", known.event_id as "eventId", known.version, known.hash, known.seq
    from ${found}`.execute(tx)
  return rows
}

/**
 * The message of an event in the queue on PostgreSQL. In these words, because of all indexes only that of events gives a range of them in order,
 * whatever the planner believes of the queue.
 */
function messageOf(event: string): RawBuilder<unknown> {
  const eventId = sql.ref(`${event}.event_id`)
  return sql`
    select * from webhook_message
    where lane_id = ${sql.ref(`${event}.lane_id`)} and event_id between ${eventId} and ${eventId} order by event_id`
}

/** What joins the queues of lanes, with all that was taken from their counters for it. */
export interface Joining {
  readonly revisions: readonly Revision[]
  /** As {@link lockCounters} read them, sequence numbers and chunks taken; the bytes are taken here. */
  readonly counters: readonly LaneCounters[]
  /** What records the event ids of the revisions, each in a table of its own. */
  readonly records: readonly RawBuilder<unknown>[]
}

/**
 * Stores revisions and counters; a revision that waits already is replaced in place, behind everything that arrived before (DL-8).
 * PostgreSQL gets all of it with one statement, because each is a way there and back for which the lanes stay locked.
 */
export async function storeJoining(
  tx: ControlTransaction,
  { revisions, counters, records }: Joining,
  nowMs: number,
): Promise<void> {
  const byLane = new Map(counters.map((each) => [each.laneId, each]))
  const inserts = [...slicesOf(revisions)].map((slice) => messagesInsert(tx, slice, byLane, nowMs))
  const statements = [...records, countersUpdate(tx, counters), ...inserts.slice(0, 1)]
  if (hasRowLocks(tx)) await together(statements).execute(tx)
  else for (const statement of statements) await statement.execute(tx)
  for (const statement of inserts.slice(1)) await statement.execute(tx)
}

/** Statements that change different tables, as one. */
function together(statements: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  const parts = statements.map((statement, index) => sql`${sql.ref(`part_${index}`)} as (${statement})`)
  return sql`with ${sql.join(parts)} select 1`
}

function messagesInsert(
  tx: ControlTransaction,
  slice: readonly Revision[],
  counters: ReadonlyMap<number, LaneCounters>,
  nowMs: number,
): RawBuilder<unknown> {
  // All bodies as one value, which costs the same however many there are, and from which each is cut unchanged.
  const bodies = Buffer.concat(slice.map(({ body }) => body))
  let start = 1
  const given = givenRows(
    tx,
    {
      lane_id: 'bigint',
      seq: 'bigint',
      event_id: 'bigint',
      version: 'bigint',
      chain: 'text',
      block_number: 'bigint',
      hash: 'text',
      body_start: 'bigint',
      body_bytes: 'bigint',
      first_byte: 'bigint',
    },
    slice.map(({ laneId, seq, eventId, version, chain, blockNumber, hash, body }) => {
      const bodyStart = start
      const bytes = body.byteLength
      start += bytes
      const lane = countersOf(counters, laneId)
      const firstByte = lane.nextByte
      lane.nextByte += bytes
      return [laneId, seq, eventId, version, chain, blockNumber, hash, bodyStart, bytes, firstByte]
    }),
  )
  const body = hasRowLocks(tx)
    ? sql`substring(${bodies}::bytea from body_start::int for body_bytes::int)`
    : sql`substr(${bodies}, body_start, body_bytes)`
  return sql`
    insert into webhook_message
      (lane_id, seq, event_id, version, chain, block_number, hash, body, body_bytes, first_byte, enqueued_at, tries)
    select lane_id, seq, event_id, version, chain, block_number, hash, ${body}, body_bytes, first_byte, ${nowMs}, 0
    from ${given} as given where true
    on conflict (lane_id, event_id) do update set
      seq = excluded.seq, version = excluded.version, hash = excluded.hash, body = excluded.body,
      body_bytes = excluded.body_bytes, first_byte = excluded.first_byte, enqueued_at = excluded.enqueued_at, tries = 0, shelved_until_at = null`
}

/** Takes older revisions out of the dead letters (DL-8). */
export async function supersedeDead(tx: ControlTransaction, events: readonly LaneEvent[]): Promise<void> {
  if (events.length === 0) return
  const isGiven = sql<boolean>`(lane_id, event_id) in (select lane_id, event_id from ${givenEvents(tx, events)} as given)`
  await tx
    .updateTable('webhook_dead_message')
    .set({ is_superseded: 1 })
    .where(isGiven)
    .where('is_superseded', '=', 0)
    .execute()
}

function givenEvents(tx: ControlTransaction, events: readonly LaneEvent[]) {
  return givenRows(
    tx,
    { lane_id: 'bigint', event_id: 'bigint' },
    events.map(({ laneId, eventId }) => [laneId, eventId]),
  )
}

function keyOf({ laneId, eventId }: LaneEvent): string {
  return `${laneId}:${eventId}`
}
