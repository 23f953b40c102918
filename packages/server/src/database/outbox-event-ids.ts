import { sql, type RawBuilder } from 'kysely'
import { chunkOfPosition, eventId } from '../delivery/event-id.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { countersOf, type LaneCounters } from './lane-counters.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/** A message on its way into a lane. */
export interface LaneMessage {
  readonly laneId: number
  readonly message: ExportedMessage
}

/** A message with the id it has in its lane. */
export interface IdentifiedMessage extends LaneMessage {
  readonly eventId: number
  /** The id was given out just now for the first time, so nothing in the lane can have it. */
  readonly isNew: boolean
}

type PlacedMessage = LaneMessage & { readonly position: number }

/** Messages with their ids, and the statements that record for ever what was taken for them. */
interface Assigned {
  readonly identified: readonly IdentifiedMessage[]
  readonly records: readonly RawBuilder<unknown>[]
}

/** Gives messages of several lanes their event ids (EV-1), those that are new from the lanes' counters. What is `read` of chunks is not read again. */
export async function assignEventIds(
  tx: ControlTransaction,
  messages: readonly LaneMessage[],
  counters: ReadonlyMap<number, LaneCounters>,
  read: readonly ReadChunk[],
): Promise<Assigned> {
  const { placed, arrivals } = await placeByArrival(tx, messages)
  const { known, chunks } = await findOrTakeChunks(tx, placed, counters, read)
  const created = new Map(chunks.map((chunk) => [chunk.key, chunk.idChunk]))
  const identified = placed.map(({ laneId, message, position }) => {
    const key = chunkKey(laneId, chunkOf(message, position))
    const chunk = known.get(key) ?? created.get(key)
    if (chunk === undefined) throw new Error(`no chunk of event ids for block ${message.blockNumber}`)
    return { laneId, message, eventId: eventId(chunk, position), isNew: created.has(key) }
  })
  const records = [
    ...(chunks.length > 0 ? [chunksInsert(tx, chunks)] : []),
    ...(arrivals.length > 0 ? [arrivalsUpsert(tx, arrivals)] : []),
  ]
  return { identified, records }
}

/** The positions of a block that are given by arrival, and the next of them. */
interface Arrival extends LaneMessage {
  next: number
}

/** Messages without a position get the next one of their version and block, behind the explicit ones that came with them. */
async function placeByArrival(
  tx: ControlTransaction,
  messages: readonly LaneMessage[],
): Promise<{ readonly placed: readonly PlacedMessage[]; readonly arrivals: readonly Arrival[] }> {
  const blocks = new Map<string, Arrival>()
  for (const one of messages) {
    if (one.message.position === null) blocks.set(blockOf(one), { ...one, next: 0 })
  }
  if (blocks.size === 0) {
    return { placed: messages.map((one) => ({ ...one, position: one.message.position ?? 0 })), arrivals: [] }
  }
  await readArrivals(tx, blocks)
  for (const one of messages) {
    const block = blocks.get(blockOf(one))
    if (block && one.message.position !== null) block.next = Math.max(block.next, one.message.position + 1)
  }
  const placed = messages.map((one) => {
    const block = blocks.get(blockOf(one))
    const position = one.message.position ?? (block ? block.next++ : 0)
    return { ...one, position }
  })
  return { placed, arrivals: [...blocks.values()] }
}

const BLOCK_COLUMNS = { lane_id: 'bigint', version: 'bigint', chain: 'text', block_number: 'bigint' } as const

async function readArrivals(tx: ControlTransaction, blocks: ReadonlyMap<string, Arrival>): Promise<void> {
  const given = givenRows(
    tx,
    BLOCK_COLUMNS,
    [...blocks.values()].map(({ laneId, message }) => [
      laneId,
      message.version,
      message.chain,
      message.blockNumber,
    ]),
  )
  const { rows } = await sql<{
    lane_id: number
    version: number
    chain: string
    block_number: number
    next_position: number
  }>`
    select arrival.* from ${given} as given cross join webhook_arrival as arrival
    where arrival.lane_id = given.lane_id and arrival.version = given.version
      and arrival.chain = given.chain and arrival.block_number = given.block_number`.execute(tx)
  for (const row of rows) {
    const block = blocks.get(keyOf(row.lane_id, row.version, row.block_number, row.chain))
    if (block) block.next = row.next_position
  }
}

/** The statement that records how far the positions of blocks have come. */
function arrivalsUpsert(tx: ControlTransaction, blocks: readonly Arrival[]): RawBuilder<unknown> {
  const given = givenRows(
    tx,
    { ...BLOCK_COLUMNS, next_position: 'bigint' },
    blocks.map(({ laneId, message, next }) => [
      laneId,
      message.version,
      message.chain,
      message.blockNumber,
      next,
    ]),
  )
  return sql`
    insert into webhook_arrival (lane_id, version, chain, block_number, next_position)
    select lane_id, version, chain, block_number, next_position from ${given} as given where true
    on conflict (lane_id, version, chain, block_number) do update set next_position = excluded.next_position`
}

/** A chunk of positions of a block. */
interface Chunk {
  readonly chain: string
  readonly blockNumber: number
  readonly blockChunk: number
}

/** A chunk of positions that has got its chunk of ids just now. */
interface TakenChunk extends Chunk {
  readonly laneId: number
  readonly key: string
  readonly idChunk: number
}

/** What a lane has for a chunk of positions; null if it has none. */
export interface ReadChunk extends Chunk {
  readonly laneId: number
  readonly idChunk: number | null
}

function chunkOf({ chain, blockNumber }: ExportedMessage, position: number): Chunk {
  return { chain, blockNumber, blockChunk: chunkOfPosition(position) }
}

function chunkKey(laneId: number, { chain, blockNumber, blockChunk }: Chunk): string {
  return keyOf(laneId, blockChunk, blockNumber, chain)
}

/** The chunks of positions of messages, each once, without those whose positions are given by arrival. */
export function placedChunks(messages: readonly ExportedMessage[]): readonly Chunk[] {
  const chunks = new Map<string, Chunk>()
  for (const message of messages) {
    if (message.position === null) continue
    const chunk = chunkOf(message, message.position)
    chunks.set(chunkKey(0, chunk), chunk)
  }
  return [...chunks.values()]
}

/** Chunks as the value from which {@link idChunksOf} reads. */
export function serializeChunks(chunks: readonly Chunk[]): string {
  return JSON.stringify(chunks.map(({ chain, blockNumber, blockChunk }) => [chain, blockNumber, blockChunk]))
}

/** The lane's chunks of ids for what {@link serializeChunks} made, in its order, null for each that it has not: a JSON array, or null for none. */
export function idChunksOf(
  tx: ControlTransaction,
  laneId: RawBuilder<number>,
  wanted: RawBuilder<string>,
): RawBuilder<string | null> {
  const [gather, rows] = hasRowLocks(tx)
    ? [sql`json_agg`, sql`json_array_elements(${wanted}::json) with ordinality as wanted(value, key)`]
    : [sql`json_group_array`, sql`json_each(${wanted}) as wanted`]
  return sql`(
    select cast(${gather}((
      select chunk.id_chunk from webhook_event_id as chunk
      where chunk.lane_id = ${laneId} and chunk.chain = wanted.value ->> 0
        and chunk.block_number = cast(wanted.value ->> 1 as bigint)
        and chunk.block_chunk = cast(wanted.value ->> 2 as bigint)
    ) order by wanted.key) as text) from ${rows})`
}

const CHUNK_COLUMNS = {
  lane_id: 'bigint',
  chain: 'text',
  block_number: 'bigint',
  block_chunk: 'bigint',
} as const

/** The lanes' chunks of ids for each chunk of positions that occurs. */
async function findOrTakeChunks(
  tx: ControlTransaction,
  placed: readonly PlacedMessage[],
  counters: ReadonlyMap<number, LaneCounters>,
  read: readonly ReadChunk[],
): Promise<{ readonly known: ReadonlyMap<string, number>; readonly chunks: readonly TakenChunk[] }> {
  const wanted = new Map(
    placed.map(({ laneId, message, position }) => {
      const chunk = chunkOf(message, position)
      return [chunkKey(laneId, chunk), { ...chunk, laneId }]
    }),
  )
  const isRead = new Set(read.map((chunk) => chunkKey(chunk.laneId, chunk)))
  const unread = [...wanted].flatMap(([key, chunk]) => (isRead.has(key) ? [] : [chunk]))
  const known = new Map<string, number>()
  for (const chunk of [...read, ...(await readChunks(tx, unread))]) {
    if (chunk.idChunk !== null) known.set(chunkKey(chunk.laneId, chunk), chunk.idChunk)
  }
  const chunks: TakenChunk[] = []
  for (const [key, chunk] of wanted) {
    if (known.has(key)) continue
    chunks.push({ ...chunk, key, idChunk: countersOf(counters, chunk.laneId).nextChunk++ })
  }
  return { known, chunks }
}

/** What lanes have of chunks of positions. */
async function readChunks(
  tx: ControlTransaction,
  chunks: readonly (Chunk & { readonly laneId: number })[],
): Promise<readonly ReadChunk[]> {
  if (chunks.length === 0) return []
  const given = givenRows(
    tx,
    CHUNK_COLUMNS,
    chunks.map((chunk) => [chunk.laneId, chunk.chain, chunk.blockNumber, chunk.blockChunk]),
  )
  const { rows } = await sql<ReadChunk>`
    select chunk.lane_id as "laneId", chunk.chain, chunk.block_number as "blockNumber",
      chunk.block_chunk as "blockChunk", chunk.id_chunk as "idChunk"
    from ${given} as given cross join webhook_event_id as chunk
    where chunk.lane_id = given.lane_id and chunk.chain = given.chain
      and chunk.block_number = given.block_number and chunk.block_chunk = given.block_chunk`.execute(tx)
  return rows
}

/** The statement that records chunks for ever. */
function chunksInsert(tx: ControlTransaction, chunks: readonly TakenChunk[]): RawBuilder<unknown> {
  const given = givenRows(
    tx,
    { ...CHUNK_COLUMNS, id_chunk: 'bigint' },
    chunks.map(({ laneId, chain, blockNumber, blockChunk, idChunk }) => [
      laneId,
      chain,
      blockNumber,
      blockChunk,
      idChunk,
    ]),
  )
  return sql`
    insert into webhook_event_id (lane_id, chain, block_number, block_chunk, id_chunk)
    select lane_id, chain, block_number, block_chunk, id_chunk from ${given} as given`
}

function blockOf({ laneId, message: { version, chain, blockNumber } }: LaneMessage): string {
  return keyOf(laneId, version, blockNumber, chain)
}

/** The chain is a text of any kind, and therefore last. */
function keyOf(laneId: number, place: number, blockNumber: number, chain: string): string {
  return `${laneId}:${place}:${blockNumber}:${chain}`
}
