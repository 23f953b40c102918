import type { ChainHead } from '../delivery/chain-head.ts'
import type { Batch } from './batch.ts'

/** The highest block of each chain among the records of a batch; what confirmations are counted from (DL-13). */
export function chainHeads(batch: Batch): readonly ChainHead[] {
  const heads = new Map<string, number>()
  const see = ({ chain, blockNumber }: ChainHead): void => {
    if (blockNumber > (heads.get(chain) ?? -1)) heads.set(chain, blockNumber)
  }
  for (const { place } of batch.samples) see(place)
  for (const rows of batch.events.values()) for (const { place } of rows) see(place)
  for (const changes of batch.entities.values()) for (const { place } of changes) see(place)
  for (const message of batch.exports) see(message)
  return [...heads].map(([chain, blockNumber]) => ({ chain, blockNumber }))
}
