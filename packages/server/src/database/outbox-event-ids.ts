import { sql, type RawBuilder } from 'kysely'
import { chunkOfPosition, eventId } from '../delivery/event-id.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { countersOf, type LaneCounters } from './lane-counters.ts'

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

/** Messages with their ids, and the chunks of ids that were taken for them and are to be recorded for ever. */
interface Assigned {
  readonly identified: readonly IdentifiedMessage[]
  readonly chunks: readonly TakenChunk[]
}

/** Gives messages of several lanes their event ids (EV-1), those that are new from the lanes' counters. */
export async function assignEventIds(
  tx: ControlTransaction,
  messages: readonly LaneMessage[],
  counters: ReadonlyMap<number, LaneCounters>,
): Promise<Assigned> {
  const placed = await placeByArrival(tx, messages)
  const { known, chunks } = await findOrTakeChunks(tx, placed, counters)
  const created = new Map(chunks.map((chunk) => [chunk.key, chunk.idChunk]))
  const identified = placed.map(({ laneId, message, position }) => {
    const key = keyOf(laneId, message.chain, message.blockNumber, chunkOfPosition(position))
    const chunk = known.get(key) ?? created.get(key)
    if (chunk === undefined) throw new Error(`no chunk of event ids for block ${message.blockNumber}`)
    return { laneId, message, eventId: eventId(chunk, position), isNew: created.has(key) }
  })
  return { identified, chunks }
}

/** The positions of a block that are given by arrival, and the next of them. */
interface Arrival extends LaneMessage {
  next: number
}

/** Messages without a position get the next one of their version and block, behind the explicit ones that came with them. */
async function placeByArrival(
  tx: ControlTransaction,
  messages: readonly LaneMessage[],
): Promise<readonly PlacedMessage[]> {
  const blocks = new Map<string, Arrival>()
  for (const one of messages) {
    if (one.message.position === null) blocks.set(blockOf(one), { ...one, next: 0 })
  }
  if (blocks.size === 0) return messages.map((one) => ({ ...one, position: one.message.position ?? 0 }))
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
  await keepArrivals(tx, [...blocks.values()])
  return placed
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
    const block = blocks.get(keyOf(row.lane_id, row.version, row.chain, row.block_number))
    if (block) block.next = row.next_position
  }
}

async function keepArrivals(tx: ControlTransaction, blocks: readonly Arrival[]): Promise<void> {
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
  await sql`
    insert into webhook_arrival (lane_id, version, chain, block_number, next_position)
    select lane_id, version, chain, block_number, next_position from ${given} as given where true
    on conflict (lane_id, version, chain, block_number) do update set next_position = excluded.next_position`.execute(
    tx,
  )
}

interface Chunk {
  readonly laneId: number
  readonly chain: string
  readonly blockNumber: number
  readonly blockChunk: number
}

/** A chunk of positions that has got its chunk of ids just now. */
export interface TakenChunk extends Chunk {
  readonly key: string
  readonly idChunk: number
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
): Promise<{ readonly known: ReadonlyMap<string, number>; readonly chunks: readonly TakenChunk[] }> {
  const wanted = new Map(
    placed.map(({ laneId, message: { chain, blockNumber }, position }): readonly [string, Chunk] => {
      const blockChunk = chunkOfPosition(position)
      return [keyOf(laneId, chain, blockNumber, blockChunk), { laneId, chain, blockNumber, blockChunk }]
    }),
  )
  const given = givenRows(
    tx,
    CHUNK_COLUMNS,
    [...wanted.values()].map((chunk) => [chunk.laneId, chunk.chain, chunk.blockNumber, chunk.blockChunk]),
  )
  const { rows } = await sql<{
    lane_id: number
    chain: string
    block_number: number
    block_chunk: number
    id_chunk: number
  }>`
    select chunk.* from ${given} as given cross join webhook_event_id as chunk
    where chunk.lane_id = given.lane_id and chunk.chain = given.chain
      and chunk.block_number = given.block_number and chunk.block_chunk = given.block_chunk`.execute(tx)
  const known = new Map(
    rows.map((row) => [keyOf(row.lane_id, row.chain, row.block_number, row.block_chunk), row.id_chunk]),
  )
  const chunks: TakenChunk[] = []
  for (const [key, chunk] of wanted) {
    if (known.has(key)) continue
    chunks.push({ ...chunk, key, idChunk: countersOf(counters, chunk.laneId).nextChunk++ })
  }
  return { known, chunks }
}

/** The statement that records chunks for ever. */
export function chunksInsert(tx: ControlTransaction, chunks: readonly TakenChunk[]): RawBuilder<unknown> {
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
  return keyOf(laneId, version, chain, blockNumber)
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts)
}
