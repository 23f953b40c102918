import type { Selectable } from 'kysely'
import type { ProjectVersion } from '../ingest/batch.ts'
import type {
  BatchAnswer,
  BatchLease,
  BatchStart,
  BatchStore,
  FinishedBatch,
  NewBatch,
  RollbackOrder,
  Unfinished,
} from '../ingest/batch-store.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { dropBodies, findKept, keepBodies } from './kept-bodies.ts'
import type { Enqueued, Exports } from './outbox.ts'
import {
  lockDataVersions,
  noteRollback,
  raiseDataVersions,
  raiseForRollback,
  raiseWhole,
} from './raise-data-versions.ts'
import type { IngestTables } from './schema/ingest.ts'
import { inTransaction } from './transaction.ts'

/** How exports get into the queues of their channels, inside the transaction that finishes their batches. */
export interface ExportQueue {
  enqueueExports(
    tx: ControlTransaction,
    version: ProjectVersion,
    exports: Exports,
    nowMs: number,
  ): Promise<Enqueued>
  withdrawExports(tx: ControlTransaction, withdrawal: ProjectVersion & RollbackOrder): Promise<number>
}

/** Who is told after a transaction. */
interface BatchListeners {
  /** Data versions were raised. */
  onChanged?(version: ProjectVersion): void
  /** These lanes may have something to send, so that delivery need not wait for its next sweep. */
  onEnqueued?(laneIds: readonly number[]): void
}

/** The undo log of ingest in the control database. */
export function createBatchStore(
  db: ControlDatabase,
  exports: ExportQueue,
  { onChanged = () => undefined, onEnqueued }: BatchListeners = {},
): BatchStore {
  return {
    begin: (version, batches, lease) =>
      inTransaction(db, async (tx) => {
        await lockDataVersions(tx, version)
        await refuseDeleted(tx, version)
        const opened = await insertOpen(tx, version, batches, lease)
        await keepBodies(tx, batches, opened)
        const others = batches.filter(({ batchId }) => !opened.has(batchId))
        const known =
          others.length === 0 ? new Map<string, BatchStart>() : await findKnown(tx, version, others)
        return batches.map(({ batchId }): BatchStart => {
          const sequence = opened.get(batchId)
          if (sequence !== undefined) return { state: 'open', sequence }
          return known.get(batchId) ?? { state: 'taken' }
        })
      }),

    finish: async (version, batches, { days, heads }, nowMs) => {
      const finished = await inTransaction(db, async (tx) => {
        await refuseDeleted(tx, version)
        // All at once, as channels are locked in order.
        const messages = batches.flatMap((batch) => batch.exports)
        const { warnings, laneIds } = await exports.enqueueExports(tx, version, { messages, heads }, nowMs)
        const answers: BatchAnswer[] = []
        for (const batch of batches) answers.push(await finishOne(tx, batch, warnings, nowMs))
        await raiseDataVersions(tx, version, days)
        await dropBodies(tx, batches)
        return { answers, laneIds }
      })
      onChanged(version)
      if (finished.laneIds.length > 0) onEnqueued?.(finished.laneIds)
      return finished.answers
    },

    isWanted: async (sequence) => {
      const row = await db
        .selectFrom('ingest_batch')
        .innerJoin('project_version', (join) =>
          join
            .onRef('project_version.project_id', '=', 'ingest_batch.project_id')
            .onRef('project_version.number', '=', 'ingest_batch.version'),
        )
        .select('sequence')
        .where('sequence', '=', sequence)
        .where('ingest_batch.state', '=', 'open')
        .where('project_version.state', '!=', 'deleted')
        .executeTakeFirst()
      return row !== undefined
    },

    cancel: (sequences) =>
      inTransaction(db, async (tx) => {
        // Waits for a transaction that is finishing one of them, so that what is read next is final.
        await tx
          .updateTable('ingest_batch')
          .set({ state: 'cancelled' })
          .where('sequence', 'in', [...sequences])
          .where('state', '!=', 'done')
          .execute()
        const rows = await tx
          .selectFrom('ingest_batch')
          .select(['sequence', 'answer'])
          .where('sequence', 'in', [...sequences])
          .where('state', '=', 'done')
          .execute()
        return new Map(rows.map(({ sequence, answer }) => [sequence, parseAnswer(answer)]))
      }),

    forget: async (sequences, hasRemovedFacts) => {
      const forgotten = await inTransaction(db, async (tx) => {
        const rows = await tx
          .deleteFrom('ingest_batch')
          .where('sequence', 'in', [...sequences])
          .where('state', '!=', 'done')
          .returningAll()
          .execute()
        if (hasRemovedFacts) for (const row of rows) await raiseForRemoval(tx, toUnfinished(row))
        return rows
      })
      for (const { project_id: projectId, version } of forgotten) onChanged({ projectId, version })
    },

    beginRollback: async (version, order, lease) => {
      const begun = await inTransaction(db, async (tx) => {
        const { sequence } = await tx
          .insertInto('ingest_batch')
          .values({
            ...newRow(version, lease),
            kind: 'rollback',
            batch_id: null,
            content_hash: null,
            detail: JSON.stringify(order),
          })
          .returning('sequence')
          .executeTakeFirstOrThrow()
        const withdrawnExports = await exports.withdrawExports(tx, { ...version, ...order })
        await raiseForRollback(tx, version, order)
        await noteRollback(tx, version, sequence)
        return { sequence, withdrawnExports }
      })
      onChanged(version)
      return begun
    },

    takeOver: async ({ owner, until, nowMs, isSole }) => {
      const rows = await db
        .updateTable('ingest_batch')
        .set({ owner, lease_until: until })
        .where('state', '!=', 'done')
        .where((where) =>
          isSole
            ? where.or([
                where('owner', '!=', owner),
                // What is answered, this process stores, however long that takes.
                where.and([where('lease_until', '<', nowMs), where('answer', 'is', null)]),
              ])
            : where('lease_until', '<', nowMs),
        )
        .returningAll()
        .execute()
      const kept = await findKept(db, rows)
      return rows
        .map((row) => {
          const body = kept.get(row.sequence)
          return { ...toUnfinished(row), ...(body ? { kept: body } : {}) }
        })
        .toSorted((a, b) => a.sequence - b.sequence)
    },

    raise,

    endVersion: async (version) => {
      // Waits for whoever is beginning a batch; whoever comes later finds the version deleted. In a transaction of its own: who finishes a
      // batch locks it first and the data versions after it.
      await raise(version)
      await db
        .updateTable('ingest_batch')
        .set({ state: 'cancelled' })
        .where('project_id', '=', version.projectId)
        .where('version', '=', version.version)
        .where('kind', '=', 'batch')
        .where('state', '=', 'open')
        .execute()
    },

    findDeleted: async (versions) => {
      if (versions.length === 0) return []
      const rows = await db
        .selectFrom('project_version')
        .select(['project_id', 'number'])
        .where('state', '=', 'deleted')
        .execute()
      const deleted = new Set(rows.map((row) => `${row.project_id}/${row.number}`))
      return versions.filter(({ projectId, version }) => deleted.has(`${projectId}/${version}`))
    },

    expire: async (beforeMs) => {
      const result = await db
        .deleteFrom('ingest_batch')
        .where('state', '=', 'done')
        .where('finished_at', '<', beforeMs)
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }

  async function raise(version: ProjectVersion): Promise<void> {
    await inTransaction(db, (tx) => raiseWhole(tx, version))
    onChanged(version)
  }
}

async function finishOne(
  tx: ControlTransaction,
  batch: FinishedBatch,
  warningsOfChannels: ReadonlyMap<string, string>,
  nowMs: number,
): Promise<BatchAnswer> {
  const channels = new Set(batch.exports.map(({ channel }) => channel))
  const warnings = [...channels].flatMap((channel) => warningsOfChannels.get(channel) ?? [])
  const answer = { accepted: batch.accepted, warnings: [...batch.warnings, ...warnings] }
  const { numUpdatedRows } = await tx
    .updateTable('ingest_batch')
    .set({ state: 'done', answer: JSON.stringify(answer), finished_at: nowMs })
    .where('sequence', '=', batch.sequence)
    .where('state', '=', 'open')
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new Error(`batch ${batch.sequence} was taken over by another instance`)
  return answer
}

/** Asked behind the lock of the data versions, which a removal takes too, so that no batch is begun behind its back. */
async function refuseDeleted(tx: ControlTransaction, { projectId, version }: ProjectVersion): Promise<void> {
  const row = await tx
    .selectFrom('project_version')
    .select('state')
    .where('project_id', '=', projectId)
    .where('number', '=', version)
    .executeTakeFirst()
  if (row?.state === 'deleted') throw invalidArgument(`version ${version} does not exist; it was deleted`)
}

async function insertOpen(
  tx: ControlTransaction,
  version: ProjectVersion,
  batches: readonly NewBatch[],
  lease: BatchLease,
): Promise<ReadonlyMap<string | null, number>> {
  const rows = await tx
    .insertInto('ingest_batch')
    .values(
      batches.map(({ batchId, contentHash, tables, touches, kept }) => ({
        ...newRow(version, lease),
        kind: 'batch' as const,
        batch_id: batchId,
        content_hash: contentHash,
        detail: JSON.stringify(tables),
        touches: touches ? JSON.stringify(touches) : null,
        answer: kept ? JSON.stringify(kept.answer) : null,
      })),
    )
    .onConflict((conflict) => conflict.columns(['project_id', 'version', 'batch_id']).doNothing())
    .returning(['batch_id', 'sequence'])
    .execute()
  return new Map(rows.map((row) => [row.batch_id, row.sequence]))
}

async function findKnown(
  tx: ControlTransaction,
  { projectId, version }: ProjectVersion,
  batches: readonly NewBatch[],
): Promise<ReadonlyMap<string | null, BatchStart>> {
  const rows = await tx
    .selectFrom('ingest_batch')
    .select(['batch_id', 'content_hash', 'answer'])
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .where(
      'batch_id',
      'in',
      batches.map(({ batchId }) => batchId),
    )
    .where('answer', 'is not', null)
    .where('state', '!=', 'cancelled')
    .execute()
  return new Map(
    rows.map((row) => [
      row.batch_id,
      { state: 'done' as const, contentHash: row.content_hash ?? '', answer: parseAnswer(row.answer) },
    ]),
  )
}

/** What was visible for a while and is gone. Of a batch only its tables are known any more. */
async function raiseForRemoval(tx: ControlTransaction, removed: Unfinished): Promise<void> {
  if (removed.kind === 'rollback') await raiseForRollback(tx, removed, removed.order)
  else await raiseWhole(tx, removed)
}

function newRow({ projectId, version }: ProjectVersion, { owner, until }: BatchLease) {
  return {
    project_id: projectId,
    version,
    state: 'open' as const,
    owner,
    lease_until: until,
    answer: null,
    finished_at: null,
  }
}

function parseAnswer(answer: string | null): BatchAnswer {
  return JSON.parse(answer ?? '{"accepted":0,"warnings":[]}') as BatchAnswer
}

function toUnfinished(row: Selectable<IngestTables['ingest_batch']>): Unfinished {
  const { sequence, project_id: projectId, version } = row
  if (row.kind === 'rollback') {
    return { kind: 'rollback', sequence, projectId, version, order: JSON.parse(row.detail) as RollbackOrder }
  }
  return { kind: 'batch', sequence, projectId, version, tables: JSON.parse(row.detail) as string[] }
}
