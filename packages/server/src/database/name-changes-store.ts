import type { DataOwner } from '../cache/data-version-store.ts'
import type { NameChangesStore } from '../cache/name-changes.ts'
import type { ControlDatabase } from './database.ts'
import { createRememberedStatement, type StandIns } from './statement.ts'

/** The changes of names in the control database. */
export function createNameChangesStore(db: ControlDatabase): NameChangesStore {
  const versionOf = createRememberedStatement(db, ({ projectId, version }: StandIns<DataOwner>) =>
    db
      .selectFrom('data_version')
      .select(['latest', 'whole'])
      .where('project_id', '=', projectId)
      .where('version', '=', version)
      .compile(),
  )

  return {
    latest: async ({ projectId, version }) => (await versionOf({ projectId, version }))[0]?.latest ?? 0,

    changesOf: async ({ projectId, version }, name, since) => {
      const whole = (await versionOf({ projectId, version }))[0]?.whole ?? 0
      const days = await db
        .selectFrom('data_day')
        .select((eb) => ['day', eb.fn.max('latest').as('latest'), eb.fn.max('late').as('late')])
        .where('project_id', '=', projectId)
        .where('version', '=', version)
        .where('name', '=', name)
        .where('latest', '>', since)
        .groupBy('day')
        .execute()
      const frontier = await db
        .selectFrom('data_frontier')
        .select((eb) => eb.fn.min('newest_micros').as('newest'))
        .where('project_id', '=', projectId)
        .where('version', '=', version)
        .where('name', '=', name)
        .executeTakeFirst()
      return {
        whole,
        days: new Map(days.map(({ day, latest, late }) => [day, { latest, late }])),
        frontierMicros: frontier?.newest ?? null,
      }
    },
  }
}
