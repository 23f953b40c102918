import type { Selectable } from 'kysely'
import type { FinishedBatch, KeptBatch, NewBatch } from '../ingest/batch-store.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import type { IngestTables } from './schema/ingest.ts'

/** Keeps the bodies of those of the batches that are answered now, under the numbers that they were given. */
export async function keepBodies(
  tx: ControlTransaction,
  batches: readonly NewBatch[],
  opened: ReadonlyMap<string | null, number>,
): Promise<void> {
  const rows = batches.flatMap(({ batchId, kept }) => {
    const sequence = opened.get(batchId)
    return kept && sequence !== undefined
      ? [{ sequence, content_type: kept.contentType, body: kept.body }]
      : []
  })
  if (rows.length > 0) await tx.insertInto('ingest_kept').values(rows).execute()
}

/** Drops the bodies of batches that are stored. */
export async function dropBodies(tx: ControlTransaction, batches: readonly FinishedBatch[]): Promise<void> {
  const sequences = batches.flatMap(({ sequence, isKept }) => (isKept ? [sequence] : []))
  if (sequences.length > 0) await tx.deleteFrom('ingest_kept').where('sequence', 'in', sequences).execute()
}

/** The bodies of those that are still to be stored. */
export async function findKept(
  db: ControlDatabase,
  rows: readonly Selectable<IngestTables['ingest_batch']>[],
): Promise<ReadonlyMap<number, KeptBatch>> {
  const answered = rows.filter(({ state, answer }) => state === 'open' && answer !== null)
  if (answered.length === 0) return new Map()
  const sequences = answered.map(({ sequence }) => sequence)
  const kept = await db.selectFrom('ingest_kept').selectAll().where('sequence', 'in', sequences).execute()
  return new Map(kept.map((row) => [row.sequence, { body: row.body, contentType: row.content_type }]))
}
