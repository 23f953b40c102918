import { chunkOfPosition, eventId } from '../delivery/event-id.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ControlTransaction } from './database.ts'
import { slicesOf } from './outbox-slices.ts'

/** A message with the id it has in its lane. */
export interface IdentifiedMessage {
  readonly eventId: number
  readonly message: ExportedMessage
}

type PlacedMessage = Omit<IdentifiedMessage, 'eventId'> & { readonly position: number }

/** Gives every message of a lane its event id (EV-1). The caller holds the lane's row lock. */
export async function assignEventIds(
  tx: ControlTransaction,
  laneId: number,
  messages: readonly ExportedMessage[],
): Promise<readonly IdentifiedMessage[]> {
  const placed = await placeByArrival(tx, laneId, messages)
  const chunks = await findOrCreateChunks(tx, laneId, placed)
  return placed.map(({ message, position }) => {
    const chunk = chunks.get(keyOf(message.chain, message.blockNumber, chunkOfPosition(position)))
    if (chunk === undefined) throw new Error(`no chunk of event ids for block ${message.blockNumber}`)
    return { message, eventId: eventId(chunk, position) }
  })
}

/** Messages without a position get the next one of their version and block, behind the explicit ones that came with them. */
async function placeByArrival(
  tx: ControlTransaction,
  laneId: number,
  messages: readonly ExportedMessage[],
): Promise<readonly PlacedMessage[]> {
  const blocks = new Map<string, { message: ExportedMessage; next: number }>()
  for (const message of messages) {
    if (message.position === null) blocks.set(blockOf(message), { message, next: 0 })
  }
  if (blocks.size === 0) return messages.map((message) => ({ message, position: message.position ?? 0 }))
  for (const slice of slicesOf([
    ...new Set([...blocks.values()].map(({ message }) => message.blockNumber)),
  ])) {
    const rows = await tx
      .selectFrom('webhook_arrival')
      .selectAll()
      .where('lane_id', '=', laneId)
      .where('version', 'in', distinct(messages, 'version'))
      .where('chain', 'in', distinct(messages, 'chain'))
      .where('block_number', 'in', slice)
      .execute()
    for (const row of rows) {
      const block = blocks.get(keyOf(row.version, row.chain, row.block_number))
      if (block) block.next = row.next_position
    }
  }
  for (const message of messages) {
    const block = blocks.get(blockOf(message))
    if (block && message.position !== null) block.next = Math.max(block.next, message.position + 1)
  }
  const placed = messages.map((message) => {
    const block = blocks.get(blockOf(message))
    const position = message.position ?? (block ? block.next++ : 0)
    return { message, position }
  })
  await keepArrivals(tx, laneId, [...blocks.values()])
  return placed
}

async function keepArrivals(
  tx: ControlTransaction,
  laneId: number,
  blocks: readonly { readonly message: ExportedMessage; readonly next: number }[],
): Promise<void> {
  for (const slice of slicesOf(blocks)) {
    await tx
      .insertInto('webhook_arrival')
      .values(
        slice.map(({ message, next }) => ({
          lane_id: laneId,
          version: message.version,
          chain: message.chain,
          block_number: message.blockNumber,
          next_position: next,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['lane_id', 'version', 'chain', 'block_number'])
          .doUpdateSet((eb) => ({ next_position: eb.ref('excluded.next_position') })),
      )
      .execute()
  }
}

/** The lane's chunk of ids for each chunk of positions that occurs; new ones are recorded for ever. */
async function findOrCreateChunks(
  tx: ControlTransaction,
  laneId: number,
  placed: readonly PlacedMessage[],
): Promise<ReadonlyMap<string, number>> {
  const wanted = new Map(
    placed.map(({ message, position }) => {
      const chunk = chunkOfPosition(position)
      const { chain, blockNumber } = message
      return [keyOf(chain, blockNumber, chunk), { chain, block_number: blockNumber, block_chunk: chunk }]
    }),
  )
  const chunks = new Map<string, number>()
  const chains = distinct([...wanted.values()], 'chain')
  for (const slice of slicesOf([...new Set([...wanted.values()].map((chunk) => chunk.block_number))])) {
    const rows = await tx
      .selectFrom('webhook_event_id')
      .selectAll()
      .where('lane_id', '=', laneId)
      .where('chain', 'in', chains)
      .where('block_number', 'in', slice)
      .execute()
    for (const row of rows) chunks.set(keyOf(row.chain, row.block_number, row.block_chunk), row.id_chunk)
  }
  const missing = [...wanted].filter(([key]) => !chunks.has(key))
  if (missing.length === 0) return chunks
  const { next_chunk } = await tx
    .updateTable('webhook_lane_sequence')
    .set((eb) => ({ next_chunk: eb('next_chunk', '+', missing.length) }))
    .where('lane_id', '=', laneId)
    .returning('next_chunk')
    .executeTakeFirstOrThrow()
  const created = missing.map(([key, chunk], index) => {
    const idChunk = next_chunk - missing.length + index
    chunks.set(key, idChunk)
    return { ...chunk, lane_id: laneId, id_chunk: idChunk }
  })
  for (const slice of slicesOf(created)) await tx.insertInto('webhook_event_id').values(slice).execute()
  return chunks
}

function distinct<T, K extends keyof T>(rows: readonly T[], member: K): readonly T[K][] {
  return [...new Set(rows.map((row) => row[member]))]
}

function blockOf({ version, chain, blockNumber }: ExportedMessage): string {
  return keyOf(version, chain, blockNumber)
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts)
}
