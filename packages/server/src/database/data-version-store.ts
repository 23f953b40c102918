import { dayOf } from '../cache/data-change.ts'
import type { DataOwner, DataVersionStore } from '../cache/data-version-store.ts'
import type { ControlDatabase } from './database.ts'

/** Data versions in the control database. */
export function createDataVersionStore(db: ControlDatabase): DataVersionStore {
  function ofOwner({ projectId, version }: DataOwner) {
    return db.selectFrom('data_version').where('project_id', '=', projectId).where('version', '=', version)
  }

  return {
    current: async (owner) => {
      const row = await ofOwner(owner).select(['latest', 'late']).executeTakeFirst()
      return row ?? { latest: 0, late: 0 }
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

    frontierMicros: async (owner, { names }) => {
      if (names?.length === 0) return null
      let query = db
        .selectFrom('data_frontier')
        .select((eb) => eb.fn.min('newest_micros').as('newest'))
        .where('project_id', '=', owner.projectId)
        .where('version', '=', owner.version)
      if (names) query = query.where('name', 'in', names)
      return (await query.executeTakeFirst())?.newest ?? null
    },
  }
}
