import { sql, type ExpressionBuilder } from 'kysely'
import type { ChangedDay } from '../cache/data-change.ts'
import type { DataOwner } from '../cache/data-version-store.ts'
import type { ControlTransaction } from './database.ts'
import type { ControlSchema } from './schema.ts'

/** Rows of one statement: far below the bound values that either dialect takes. */
const ROWS_MAX = 500

/**
 * Raises the data versions of what a transaction changes (CA-6). The row of the processor version stays locked until the
 * transaction ends, so versions become visible in their order, and a reader who saw one misses no earlier change.
 */
export async function raiseDataVersions(
  tx: ControlTransaction,
  owner: DataOwner,
  changes: readonly ChangedDay[],
): Promise<void> {
  if (changes.length === 0) return
  const latest = await nextVersion(tx, owner)
  const frontier = await readFrontier(tx, owner, changes)
  const rows = changes.map((change) => {
    const reached = frontier.get(keyOf(change))
    // The first data of a name and chain counts as late: who was told that there is none learns of it at once.
    const isLate = reached === undefined || change.oldestMicros < reached
    return { ...dayRow(owner, change), latest, late: isLate ? latest : 0 }
  })
  for (const part of parts(rows)) await writeDays(tx, part)
  if (rows.some(({ late }) => late > 0)) await noteLate(tx, owner, latest)
  await moveFrontier(tx, owner, changes, frontier)
  await raiseHeights(tx, owner, changes)
}

/** Raises every day of a chain that may hold blocks above the given one: before and after a rollback took them away (IN-3). */
export async function raiseForRollback(
  tx: ControlTransaction,
  owner: DataOwner,
  { chain, aboveBlock }: { readonly chain: string; readonly aboveBlock: number },
): Promise<void> {
  const latest = await nextVersion(tx, owner)
  await tx
    .updateTable('data_day')
    .set({ latest, late: latest })
    .where('project_id', '=', owner.projectId)
    .where('version', '=', owner.version)
    .where('chain', '=', chain)
    .where('highest_block', '>', aboveBlock)
    .execute()
  await tx
    .updateTable('data_height')
    .set({ height: aboveBlock })
    .where('project_id', '=', owner.projectId)
    .where('version', '=', owner.version)
    .where('chain', '=', chain)
    .where('height', '>', aboveBlock)
    .execute()
  await noteLate(tx, owner, latest)
}

/** Raises everything of a processor version: for changes of which nobody knows any more what they touched. */
export async function raiseWhole(tx: ControlTransaction, owner: DataOwner): Promise<void> {
  const latest = await nextVersion(tx, owner)
  await tx
    .updateTable('data_version')
    .set({ late: latest, whole: latest })
    .where('project_id', '=', owner.projectId)
    .where('version', '=', owner.version)
    .execute()
}

/** Notes which rollback began last. */
export async function noteRollback(
  tx: ControlTransaction,
  owner: DataOwner,
  sequence: number,
): Promise<void> {
  await tx
    .updateTable('data_version')
    .set({ last_rollback: sequence })
    .where('project_id', '=', owner.projectId)
    .where('version', '=', owner.version)
    .execute()
}

/**
 * Lets transactions of one processor version that begin batches follow one another, so that the numbers of batches become visible in their
 * order: whoever sees a number sees all before it.
 */
export async function lockDataVersions(tx: ControlTransaction, owner: DataOwner): Promise<void> {
  await tx
    .insertInto('data_version')
    .values({ project_id: owner.projectId, version: owner.version, latest: 0, late: 0, whole: 0 })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'version']).doUpdateSet({ latest: sql`data_version.latest` }),
    )
    .execute()
}

async function nextVersion(tx: ControlTransaction, { projectId, version }: DataOwner): Promise<number> {
  const row = await tx
    .insertInto('data_version')
    .values({ project_id: projectId, version, latest: 1, late: 0, whole: 0 })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'version']).doUpdateSet({ latest: sql`data_version.latest + 1` }),
    )
    .returning('latest')
    .executeTakeFirstOrThrow()
  return row.latest
}

async function noteLate(tx: ControlTransaction, owner: DataOwner, late: number): Promise<void> {
  await tx
    .updateTable('data_version')
    .set({ late })
    .where('project_id', '=', owner.projectId)
    .where('version', '=', owner.version)
    .execute()
}

type Frontier = ReadonlyMap<string, number>

async function readFrontier(
  tx: ControlTransaction,
  owner: DataOwner,
  changes: readonly ChangedDay[],
): Promise<Frontier> {
  const frontier = new Map<string, number>()
  for (const names of parts([...new Set(changes.map(({ name }) => name))])) {
    const rows = await tx
      .selectFrom('data_frontier')
      .select(['name', 'chain', 'newest_micros'])
      .where('project_id', '=', owner.projectId)
      .where('version', '=', owner.version)
      .where('name', 'in', names)
      .execute()
    for (const row of rows) frontier.set(keyOf(row), row.newest_micros)
  }
  return frontier
}

async function moveFrontier(
  tx: ControlTransaction,
  owner: DataOwner,
  changes: readonly ChangedDay[],
  before: Frontier,
): Promise<void> {
  const moved = new Map<string, ChangedDay>()
  for (const change of changes) {
    const key = keyOf(change)
    const reached = moved.get(key)?.newestMicros ?? before.get(key) ?? -Infinity
    if (change.newestMicros > reached) moved.set(key, change)
  }
  const rows = [...moved.values()].map(({ name, chain, newestMicros }) => ({
    project_id: owner.projectId,
    version: owner.version,
    name,
    chain,
    newest_micros: newestMicros,
  }))
  for (const part of parts(rows)) {
    await tx
      .insertInto('data_frontier')
      .values([...part])
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'version', 'name', 'chain'])
          .doUpdateSet((eb) => ({ newest_micros: eb.ref('excluded.newest_micros') })),
      )
      .execute()
  }
}

async function raiseHeights(
  tx: ControlTransaction,
  { projectId, version }: DataOwner,
  changes: readonly ChangedDay[],
): Promise<void> {
  const heights = new Map<string, number>()
  for (const { chain, highestBlock } of changes) {
    if (highestBlock > (heights.get(chain) ?? 0)) heights.set(chain, highestBlock)
  }
  const rows = [...heights].map(([chain, height]) => ({ project_id: projectId, version, chain, height }))
  for (const part of parts(rows)) {
    await tx
      .insertInto('data_height')
      .values([...part])
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'version', 'chain'])
          .doUpdateSet((eb) => ({ height: eb.ref('excluded.height') }))
          .whereRef('excluded.height', '>', 'data_height.height'),
      )
      .execute()
  }
}

function dayRow({ projectId, version }: DataOwner, { name, chain, day, highestBlock }: ChangedDay) {
  return { project_id: projectId, version, name, day, chain, highest_block: highestBlock }
}

async function writeDays(
  tx: ControlTransaction,
  rows: readonly (ReturnType<typeof dayRow> & { latest: number; late: number })[],
): Promise<void> {
  await tx
    .insertInto('data_day')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'version', 'name', 'day', 'chain']).doUpdateSet((eb) => ({
        latest: eb.ref('excluded.latest'),
        late: larger(eb, 'late'),
        highest_block: larger(eb, 'highest_block'),
      })),
    )
    .execute()
}

/** The larger of the old and the new value; the dialects name no common function for it. */
function larger(
  eb: ExpressionBuilder<ControlSchema & { excluded: ControlSchema['data_day'] }, 'data_day' | 'excluded'>,
  column: 'late' | 'highest_block',
) {
  return eb
    .case()
    .when(`excluded.${column}`, '>', eb.ref(`data_day.${column}`))
    .then(eb.ref(`excluded.${column}`))
    .else(eb.ref(`data_day.${column}`))
    .end()
}

function keyOf({ name, chain }: { readonly name: string; readonly chain: string }): string {
  return `${chain.length}:${chain}${name}`
}

function* parts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += ROWS_MAX) yield items.slice(from, from + ROWS_MAX)
}
