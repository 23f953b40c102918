import { openDatabase } from '../../../src/database/database.ts'
import { enqueueExports, withdrawExports } from '../../../src/database/outbox.ts'
import type { Payload } from './oracle.ts'

/** What ingest is to do in one transaction. */
export interface IngestOrder {
  readonly id: number
  readonly projectId: number
  readonly version: number
  readonly chain: string
  readonly channel: string
  /** Takes back all blocks above; null takes back nothing. */
  readonly aboveBlock: number | null
  readonly exports: readonly { readonly block: number; readonly position: number; readonly data: Payload }[]
  /** How far the chain has come. */
  readonly head: number
}

/** Ingest as a process of its own, to be killed: `node ingest-process.ts <control database>`. Answers an order's id once it is stored. */
const { db } = await openDatabase(process.argv[2] ?? '')
process.on('message', (order: IngestOrder) => {
  void carryOut(order)
})
process.send?.('started')

async function carryOut({ id, projectId, version, chain, channel, ...order }: IngestOrder): Promise<void> {
  const messages = order.exports.map(({ block, position, data }) => ({
    channel,
    exportName: 'chaos',
    chain,
    blockNumber: block,
    position,
    timestampMicros: block,
    version,
    data: Buffer.from(JSON.stringify(data)),
  }))
  const { aboveBlock } = order
  try {
    await db.transaction().execute(async (tx) => {
      if (aboveBlock !== null) await withdrawExports(tx, { projectId, version, chain, aboveBlock })
      const heads = [{ chain, blockNumber: order.head }]
      await enqueueExports(tx, { projectId, version }, { messages, heads }, Date.now())
    })
    process.send?.({ id, isStored: true })
  } catch {
    process.send?.({ id, isStored: false })
  }
}
