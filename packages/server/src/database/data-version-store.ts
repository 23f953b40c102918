import { sql } from 'kysely'
import { dayOf } from '../cache/data-change.ts'
import type { DataOwner, DataVersionStore } from '../cache/data-version-store.ts'
import type { OpenRollback, Touches } from '../cache/snapshot.ts'
import type { ControlDatabase } from './database.ts'
import { createRememberedStatement, type Given, type StandIns } from './statement.ts'

/** What is known of the version, and one of its open writes; of a version without any of either the columns are null. */
interface ViewRow {
  readonly latest: number | null
  readonly late: number | null
  readonly last_rollback: number | null
  readonly up_to: number | null
  readonly sequence: number | null
  readonly kind: string | null
  readonly detail: string | null
  readonly touches: string | null
  readonly chain: string | null
  readonly height: number | null
}

const CHAINS_MAX = 100

/** Data versions in the control database. */
export function createDataVersionStore(db: ControlDatabase): DataVersionStore {
  function ofOwner({ projectId, version }: DataOwner | StandIns<DataOwner>) {
    return db
      .selectFrom('data_version')
      .where('data_version.project_id', '=', projectId)
      .where('data_version.version', '=', version)
  }

  const current = createRememberedStatement(db, (owner: StandIns<DataOwner>) =>
    ofOwner(owner)
      .leftJoin('project_version', (join) =>
        join
          .onRef('project_version.project_id', '=', 'data_version.project_id')
          .onRef('project_version.number', '=', 'data_version.version'),
      )
      .select(['latest', 'late', 'state'])
      .compile(),
  )

  const view = createRememberedStatement(db, ({ projectId, version }: StandIns<DataOwner>) =>
    sql<ViewRow>`
        select v.latest, v.late, v.last_rollback, (select max(sequence) from ingest_batch) as up_to,
          b.sequence, b.kind, b.detail, b.touches, null as chain, null as height
        from (select 1) as one
        left join data_version v on v.project_id = ${projectId} and v.version = ${version}
        left join ingest_batch b on b.project_id = ${projectId} and b.version = ${version} and b.state <> 'done'
        union all
        select v.latest, v.late, v.last_rollback, (select max(sequence) from ingest_batch),
          null, null, null, null, h.chain, h.height
        from (
          select chain, height from data_height
          where project_id = ${projectId} and version = ${version} order by chain limit ${CHAINS_MAX}
        ) as h
        join data_version v on v.project_id = ${projectId} and v.version = ${version}
      `.compile(db),
  )

  function frontierOf(
    { projectId, version }: DataOwner | StandIns<DataOwner>,
    names: readonly Given<string>[] | null,
  ) {
    const query = db
      .selectFrom('data_frontier')
      .select((eb) => eb.fn.min('newest_micros').as('newest'))
      .where('project_id', '=', projectId)
      .where('version', '=', version)
    return (names ? query.where('name', 'in', names) : query).compile()
  }
  const frontierOfOne = createRememberedStatement(
    db,
    (given: StandIns<DataOwner & { readonly name: string }>) => frontierOf(given, [given.name]),
  )

  return {
    current: async ({ projectId, version }) => {
      const [row] = await current({ projectId, version })
      return { latest: row?.latest ?? 0, late: row?.late ?? 0, isDeleted: row?.state === 'deleted' }
    },

    view: async ({ projectId, version }) => {
      const rows = await view({ projectId, version })
      const [first] = rows
      return {
        latest: first?.latest ?? 0,
        late: first?.late ?? 0,
        lastRollback: first?.last_rollback ?? 0,
        upTo: first?.up_to ?? 0,
        heights: Object.fromEntries(
          rows.flatMap(({ chain, height }) => (chain === null || height === null ? [] : [[chain, height]])),
        ),
        open: rows.flatMap(({ sequence, kind, detail, touches }) =>
          sequence === null
            ? []
            : [
                {
                  sequence,
                  rollback: kind === 'rollback' ? readRollback(detail, sequence) : null,
                  touches: touches === null ? null : (JSON.parse(touches) as Touches),
                },
              ],
        ),
      }
    },

    changedDays: async (owner, { names, fromMicros, toMicros }, after) => {
      const whole = (await ofOwner(owner).select('whole').executeTakeFirst())?.whole ?? 0
      if (whole > after) return null
      if (names?.length === 0) return []
      let query = db
        .selectFrom('data_day')
        .select('day')
        .distinct()
        .where('project_id', '=', owner.projectId)
        .where('version', '=', owner.version)
        .where('latest', '>', after)
      if (names) query = query.where('name', 'in', names)
      if (fromMicros !== null) query = query.where('day', '>=', dayOf(fromMicros))
      if (toMicros !== null) query = query.where('day', '<=', dayOf(toMicros))
      return (await query.orderBy('day').execute()).map(({ day }) => day)
    },

    covered: async (owner, { names, fromMicros, toMicros }) => {
      const whole = (await ofOwner(owner).select('whole').executeTakeFirst())?.whole ?? 0
      if (names?.length === 0) return { latest: whole, late: whole }
      let query = db
        .selectFrom('data_day')
        .select((eb) => [eb.fn.max('latest').as('latest'), eb.fn.max('late').as('late')])
        .where('project_id', '=', owner.projectId)
        .where('version', '=', owner.version)
      if (names) query = query.where('name', 'in', names)
      if (fromMicros !== null) query = query.where('day', '>=', dayOf(fromMicros))
      if (toMicros !== null) query = query.where('day', '<=', dayOf(toMicros))
      const row = await query.executeTakeFirst()
      return { latest: Math.max(whole, row?.latest ?? 0), late: Math.max(whole, row?.late ?? 0) }
    },

    frontierMicros: async ({ projectId, version }, { names }) => {
      if (names?.length === 0) return null
      const [name] = names ?? []
      const rows =
        name !== undefined && names?.length === 1
          ? await frontierOfOne({ projectId, version, name })
          : (await db.executeQuery(frontierOf({ projectId, version }, names))).rows
      return rows[0]?.newest ?? null
    },
  }
}

function readRollback(detail: string | null, sequence: number): OpenRollback {
  const { chain, aboveBlock } = JSON.parse(detail ?? '{}') as { chain: string; aboveBlock: number }
  return { chain, aboveBlock, beforeSequence: sequence }
}
