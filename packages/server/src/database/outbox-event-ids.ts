import { sql } from 'kysely'
import { chunkOfPosition, eventId } from '../delivery/event-id.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'

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

/** Gives messages of several lanes their event ids (EV-1). The caller holds the lanes' row locks. */
export async function assignEventIds(
  tx: ControlTransaction,
  messages: readonly LaneMessage[],
): Promise<readonly IdentifiedMessage[]> {
  const placed = await placeByArrival(tx, messages)
  const { known, created } = await findOrCreateChunks(tx, placed)
  return placed.map(({ laneId, message, position }) => {
    const key = keyOf(laneId, message.chain, message.blockNumber, chunkOfPosition(position))
    const chunk = known.get(key) ?? created.get(key)
    if (chunk === undefined) throw new Error(`no chunk of event ids for block ${message.blockNumber}`)
    return { laneId, message, eventId: eventId(chunk, position), isNew: created.has(key) }
  })
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

const CHUNK_COLUMNS = {
  lane_id: 'bigint',
  chain: 'text',
  block_number: 'bigint',
  block_chunk: 'bigint',
} as const

/** The lanes' chunks of ids for each chunk of positions that occurs; those that are created are recorded for ever. */
async function findOrCreateChunks(
  tx: ControlTransaction,
  placed: readonly PlacedMessage[],
): Promise<{ readonly known: ReadonlyMap<string, number>; readonly created: ReadonlyMap<string, number> }> {
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
  const missing = [...wanted].filter(([key]) => !known.has(key))
  return { known, created: await createChunks(tx, missing) }
}

async function createChunks(
  tx: ControlTransaction,
  missing: readonly (readonly [string, Chunk])[],
): Promise<ReadonlyMap<string, number>> {
  if (missing.length === 0) return new Map()
  const byLane = Map.groupBy(missing, ([, { laneId }]) => laneId)
  const counts = givenRows(
    tx,
    { lane_id: 'bigint', count: 'bigint' },
    [...byLane].map(([laneId, chunks]) => [laneId, chunks.length]),
  )
  const { rows } = await sql<{ lane_id: number; next_chunk: number }>`
    update webhook_lane_sequence set next_chunk = webhook_lane_sequence.next_chunk + given.count
    from ${counts} as given where webhook_lane_sequence.lane_id = given.lane_id
    returning webhook_lane_sequence.lane_id, webhook_lane_sequence.next_chunk`.execute(tx)
  const created = rows.flatMap(({ lane_id, next_chunk }) => {
    const chunks = byLane.get(lane_id) ?? []
    return chunks.map(([key, chunk], index) => ({ key, chunk, id: next_chunk - chunks.length + index }))
  })
  const given = givenRows(
    tx,
    { ...CHUNK_COLUMNS, id_chunk: 'bigint' },
    created.map(({ chunk, id }) => [chunk.laneId, chunk.chain, chunk.blockNumber, chunk.blockChunk, id]),
  )
  await sql`
    insert into webhook_event_id (lane_id, chain, block_number, block_chunk, id_chunk)
    select lane_id, chain, block_number, block_chunk, id_chunk from ${given} as given`.execute(tx)
  return new Map(created.map(({ key, id }) => [key, id]))
}

function blockOf({ laneId, message: { version, chain, blockNumber } }: LaneMessage): string {
  return keyOf(laneId, version, chain, blockNumber)
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts)
}
