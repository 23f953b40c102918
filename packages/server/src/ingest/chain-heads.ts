import type { ChainHead } from '../delivery/chain-head.ts'
import type { Batch } from './batch.ts'

/** The highest block of each chain among the records of batches; what confirmations are counted from (DL-13). */
export function chainHeads(batches: readonly Batch[]): readonly ChainHead[] {
  const heads = new Map<string, number>()
  const see = ({ chain, blockNumber }: ChainHead): void => {
    if (blockNumber > (heads.get(chain) ?? -1)) heads.set(chain, blockNumber)
  }
  for (const { samples, events, entities, exports } of batches) {
    for (const { place } of samples) see(place)
    for (const rows of events.values()) for (const { place } of rows) see(place)
    for (const changes of entities.values()) for (const { place } of changes) see(place)
    for (const message of exports) see(message)
  }
  return [...heads].map(([chain, blockNumber]) => ({ chain, blockNumber }))
}
