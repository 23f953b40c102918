import type { Snapshot } from '../cache/snapshot.ts'
import { quoteString } from './layout.ts'

/** The condition, to be added to others, that rows belong to a snapshot; empty where all do. `batch` is the column of their batch. */
export function ofSnapshot(snapshot: Snapshot | null, batch: string): string {
  if (snapshot === null) return ''
  const { upTo, except, rollbacks } = snapshot
  const conditions = [
    `${batch} <= ${upTo}`,
    ...(except.length === 0 ? [] : [`${batch} not in (${except.join(', ')})`]),
    ...rollbacks.map(
      ({ chain, aboveBlock, beforeSequence }) =>
        `not (chain = ${quoteString(chain)} and block_number > ${aboveBlock} and ${batch} < ${beforeSequence})`,
    ),
  ]
  return ` and ${conditions.join(' and ')}`
}
