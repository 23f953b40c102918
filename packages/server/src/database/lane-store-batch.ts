import { sql, type RawBuilder } from 'kysely'
import type { Batch, BatchRequest, LaneClaim, QueuedMessage } from '../delivery/lane.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenLanes, givenRows, type GivenRow } from './given-rows.ts'
import { firstDueAt, isBehindCursor } from './lane-queue.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { createStatement, type StandIns } from './statement.ts'

/** A {@link QueuedMessage} as the database names its parts; nothing is left to do for each row. */
const COLUMNS = [
  'seq',
  'event_id as eventId',
  'version',
  'chain',
  'block_number as blockNumber',
  'hash',
  'body',
  'enqueued_at as enqueuedAt',
  'tries',
] as const satisfies readonly (keyof QueuedMessage | `${string} as ${keyof QueuedMessage}`)[]

/** A shelved message that is due, by itself; else the messages behind the cursor, as many as fit; else null. */
export async function nextBatch(
  db: ControlDatabase,
  { laneId }: LaneClaim,
  request: BatchRequest,
): Promise<Batch | null> {
  const due = await db
    .selectFrom('webhook_message')
    .select(COLUMNS)
    .where('lane_id', '=', laneId)
    .where('shelved_until_at', '<=', request.nowMs)
    .orderBy('shelved_until_at')
    .limit(1)
    .execute()
  if (due.length > 0) return { isShelved: true, messages: due }
  const messages = (await nextBatches(db, [{ laneId, ...request }])).get(laneId)
  return messages ? { isShelved: false, messages } : null
}

/** Lanes whose batches are read together; those of hundreds would hold the event loop while other requests wait. */
export const LANES_READ_TOGETHER = 32

/** The lane, and what is asked of it. */
type LaneBatchRequest = BatchRequest & { readonly laneId: number }

/**
 * What lanes send next as far as it is behind their cursors, null where nothing waits there; lanes in which a shelved message is due (DL-4) are
 * missing: {@link nextBatch} reads theirs.
 */
export async function unshelvedBatches(
  db: ControlDatabase | ControlTransaction,
  requests: readonly LaneBatchRequest[],
  nowMs: number,
): Promise<ReadonlyMap<number, Batch | null>> {
  // Hardly any is due, so both are asked at once.
  const [due, batches] = await Promise.all([lanesWithDue(db, requests, nowMs), nextBatches(db, requests)])
  return new Map(
    requests
      .filter(({ laneId }) => !due.has(laneId))
      .map(({ laneId }) => {
        const messages = batches.get(laneId)
        return [laneId, messages ? { isShelved: false, messages } : null]
      }),
  )
}

/** Those of the lanes in which a shelved message is due (DL-4). */
async function lanesWithDue(
  db: ControlDatabase | ControlTransaction,
  lanes: readonly { readonly laneId: number }[],
  nowMs: number,
): Promise<ReadonlySet<number>> {
  if (lanes.length === 0) return new Set()
  const { rows } = await findDue(db, { laneIds: lanes.map(({ laneId }) => laneId), nowMs })
  return new Set(rows.map((row) => row.lane_id))
}

const findDue = createStatement(
  ({ laneIds, nowMs }: StandIns<{ readonly laneIds: readonly number[]; readonly nowMs: number }>, db) =>
    sql<{ lane_id: number }>`
      select given.lane_id from ${givenLanes(db, laneIds)} as given
      where ${firstDueAt(sql<number>`given.lane_id`)} <= ${nowMs}`.compile(db),
)

/**
 * The messages behind the cursors of lanes, in order, as many of each as fit into one request, but one at least; lanes in
 * which nothing waits are missing. What fits is told by the recorded sizes, because the bodies of a hundred messages of 5 MiB
 * would be read only to be left out.
 */
export async function nextBatches(
  db: ControlDatabase | ControlTransaction,
  requests: readonly LaneBatchRequest[],
): Promise<ReadonlyMap<number, readonly QueuedMessage[]>> {
  if (requests.length === 0) return new Map()
  if (hasRowLocks(db)) return readTogether(db, requests)
  const batches = new Map<number, readonly QueuedMessage[]>()
  for (const request of requests) {
    const messages = await readFitting(db, request)
    if (messages.length > 0) batches.set(request.laneId, messages)
  }
  return batches
}

const MESSAGE = sql`
  message.seq, message.event_id as "eventId", message.version, message.chain, message.block_number as "blockNumber",
  message.hash, message.body, message.enqueued_at as "enqueuedAt", message.tries`

/** Of the first messages of a lane: how long the array is up to each, brackets and commas included. */
const ARRAY_BYTES = sql`sum(body_bytes + 1) over (order by seq) + 1 as array_bytes, row_number() over (order by seq) as place`

const readSizes = createStatement(
  (given: StandIns<Pick<LaneBatchRequest, 'laneId' | 'afterSeq' | 'maxMessages'>>, db) =>
    sql<{ seq: number; bytes: number }>`
      select seq, body_bytes as bytes from webhook_message
      where lane_id = ${given.laneId} and seq > ${given.afterSeq} and shelved_until_at is null
      order by seq limit ${given.maxMessages}`.compile(db),
)

const readMessages = createStatement(
  (given: StandIns<{ readonly laneId: number; readonly firstSeq: number; readonly lastSeq: number }>, db) =>
    sql<QueuedMessage>`
      select ${MESSAGE} from webhook_message as message
      where lane_id = ${given.laneId} and seq between ${given.firstSeq} and ${given.lastSeq}
        and shelved_until_at is null
      order by seq`.compile(db),
)

/**
 * SQLite runs inside this process: two small statements for each lane cost a fraction of one that knows them all, whose window
 * functions make tables of their own.
 */
async function readFitting(
  db: ControlDatabase | ControlTransaction,
  { laneId, afterSeq, maxMessages, maxBytes }: LaneBatchRequest,
): Promise<readonly QueuedMessage[]> {
  for (;;) {
    const { rows: sizes } = await readSizes(db, { laneId, afterSeq, maxMessages })
    const [first] = sizes
    if (first === undefined) return []
    let lastSeq = first.seq
    let arrayBytes = 1
    for (const { seq, bytes } of sizes) {
      arrayBytes += bytes + 1
      if (seq !== first.seq && arrayBytes > maxBytes) break
      lastSeq = seq
    }
    const { rows } = await readMessages(db, { laneId, firstSeq: first.seq, lastSeq })
    // Between the two reads everything may have been withdrawn or replaced: then look again.
    if (rows.length > 0) return rows
  }
}

/**
 * A query of what lanes send next, in no order, from a table of what is asked of each, on PostgreSQL; of a lane in which more than `waitingMax` messages
 * would be read, none. Each message is fetched by its place: the offset keeps a planner that believes in many from reading the whole table instead.
 */
export function fittingMessages(
  asked: RawBuilder<unknown>,
  waitingMax: number | null = null,
): RawBuilder<LaneMessageRow> {
  const isFew = waitingMax === null ? sql`true` : sql`waiting <= ${waitingMax}`
  const most =
    waitingMax === null ? sql`asked.max_messages` : sql`least(asked.max_messages, ${waitingMax + 1})`
  return sql<LaneMessageRow>`
    select asked.lane_id as "laneId", ${MESSAGE}, fitting.place from ${asked} as asked
    cross join lateral (
      select id, ${ARRAY_BYTES}, count(*) over () as waiting from (
        select ctid as id, seq, body_bytes from webhook_message
        where ${isBehindCursor(sql<number>`asked.lane_id`, sql<number>`asked.after_seq`)}
        order by seq limit ${most}
      ) as first
    ) as fitting
    cross join lateral (
      select * from webhook_message where webhook_message.ctid = fitting.id offset 0
    ) as message
    where (array_bytes <= asked.max_bytes or place = 1) and ${isFew}`
}

/** A message that {@link fittingMessages} answers, and its place in the batch, from 1. */
export interface LaneMessageRow extends QueuedMessage {
  readonly laneId: number
  readonly place: number
}

/** The same, joined with a lane that may have none: then each column is null. */
export type JoinedMessageRow = { readonly [Column in keyof LaneMessageRow]: LaneMessageRow[Column] | null }

/** Messages of lanes, each lane's in order. */
export function messagesByLane(
  rows: readonly JoinedMessageRow[],
): ReadonlyMap<number, readonly QueuedMessage[]> {
  const messages = rows.filter((row): row is LaneMessageRow => row.seq !== null)
  const byLane = Map.groupBy(messages, ({ laneId }) => laneId)
  for (const ofLane of byLane.values()) ofLane.sort((a, b) => a.seq - b.seq)
  return byLane
}

/** One way to PostgreSQL and back for all of them. */
async function readTogether(
  db: ControlDatabase | ControlTransaction,
  requests: readonly LaneBatchRequest[],
): Promise<ReadonlyMap<number, readonly QueuedMessage[]>> {
  const { rows } = await readAsked(db, {
    asked: requests.map(({ laneId, afterSeq, maxMessages, maxBytes }) => [
      laneId,
      afterSeq,
      maxMessages,
      maxBytes,
    ]),
  })
  return messagesByLane(rows)
}

const ASKED = { lane_id: 'bigint', after_seq: 'bigint', max_messages: 'bigint', max_bytes: 'bigint' } as const

const readAsked = createStatement(({ asked }: StandIns<{ readonly asked: readonly GivenRow[] }>, db) =>
  fittingMessages(givenRows(db, ASKED, asked)).compile(db),
)
