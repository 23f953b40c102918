import { MillraceError, type Client } from '@millrace/sdk'
import type { KnownBlock, KnownBlocks } from './chain-block.ts'

const BLOCKS_A_CHAIN = 128

/**
 * The highest blocks that the service has of each chain: where to resume, and what to compare with a node. They are
 * asked of the service itself, so nothing the demo remembers can disagree with it.
 */
export async function readKnownBlocks(client: Client, project: string): Promise<KnownBlocks> {
  const known = new Map<string, KnownBlock[]>()
  for (const table of ['Transfer', 'Swap']) {
    const sql = `select chain, block_number, any(block_hash) as block_hash from \`${table}\`
      group by chain, block_number order by chain, block_number desc limit ${BLOCKS_A_CHAIN} by chain`
    try {
      for await (const row of client.sqlRows(project, { sql, cachePolicy: { noCache: true } })) {
        const blocks = known.get(String(row['chain'])) ?? []
        known.set(String(row['chain']), blocks)
        blocks.push({ number: Number(row['block_number']), hash: String(row['block_hash']) })
      }
    } catch (error) {
      // The table comes with its first event.
      if (!(error instanceof MillraceError && (error.status === 400 || error.status === 404))) throw error
    }
  }
  return new Map([...known].map(([chain, blocks]) => [chain, highestFirst(blocks)]))
}

function highestFirst(blocks: readonly KnownBlock[]): readonly KnownBlock[] {
  const byNumber = new Map(blocks.map((block) => [block.number, block]))
  return [...byNumber.values()].toSorted((a, b) => b.number - a.number).slice(0, BLOCKS_A_CHAIN)
}
