import { isRetryable, MillraceError, type Client } from '@millrace/sdk'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KnownBlock, KnownBlocks } from './chain-block.ts'

const BLOCKS_A_CHAIN = 128
const MOST_ATTEMPTS = 30

/**
 * The highest blocks that the service has of each chain: where to resume, and what to compare with a node. They are
 * asked of the service itself, so nothing the demo remembers can disagree with it.
 */
export async function readKnownBlocks(client: Client, project: string): Promise<KnownBlocks> {
  const known = new Map<string, KnownBlock[]>()
  for (const table of ['Transfer', 'Swap']) {
    for (const row of await readHighest(client, project, table)) {
      const chain = String(row['chain'])
      const blocks = known.get(chain) ?? []
      known.set(chain, blocks)
      blocks.push({ number: Number(row['block_number']), hash: String(row['block_hash']) })
    }
  }
  return new Map([...known].map(([chain, blocks]) => [chain, highestFirst(blocks)]))
}

async function readHighest(client: Client, project: string, table: string) {
  const sql = `select chain, block_number, any(block_hash) as block_hash from \`${table}\`
    group by chain, block_number order by chain, block_number desc limit ${BLOCKS_A_CHAIN} by chain`
  for (let attempt = 1; ; attempt++) {
    try {
      const rows: Readonly<Record<string, unknown>>[] = []
      const query = { sql, cachePolicy: { noCache: true } }
      for await (const row of client.sqlRows(project, query)) rows.push(row)
      return rows
    } catch (error) {
      // The table comes with its first event.
      if (error instanceof MillraceError && error.status === 400) return []
      if (attempt === MOST_ATTEMPTS || !isRetryable(error)) throw error
      await sleep(1000)
    }
  }
}

function highestFirst(blocks: readonly KnownBlock[]): readonly KnownBlock[] {
  const byNumber = new Map(blocks.map((block) => [block.number, block]))
  return [...byNumber.values()].toSorted((a, b) => b.number - a.number).slice(0, BLOCKS_A_CHAIN)
}
