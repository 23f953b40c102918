import type { FlightStore } from '../cache/flight-store.ts'
import type { ControlDatabase } from './database.ts'

/** Claims on cached answers in the control database. */
export function createFlightStore(db: ControlDatabase): FlightStore {
  return {
    claim: async (keyHash, { owner, now, until, isRefresh }) => {
      const row = { owner, state: 'computing' as const, until }
      const claimed = await db
        .insertInto('cache_flight')
        .values({ key_hash: keyHash, ...row })
        .onConflict((conflict) =>
          conflict
            .column('key_hash')
            .doUpdateSet(row)
            .where((eb) =>
              eb.or([
                eb('cache_flight.until', '<=', now),
                ...(isRefresh ? [] : [eb('cache_flight.state', '=', 'paused')]),
              ]),
            ),
        )
        .returning('owner')
        .executeTakeFirst()
      return claimed !== undefined
    },

    renew: async (keyHash, owner, until) => {
      await db
        .updateTable('cache_flight')
        .set({ until })
        .where('key_hash', '=', keyHash)
        .where('owner', '=', owner)
        .where('state', '=', 'computing')
        .execute()
    },

    release: async (keyHash, owner) => {
      await db.deleteFrom('cache_flight').where('key_hash', '=', keyHash).where('owner', '=', owner).execute()
    },

    pause: async (keyHash, owner, until) => {
      await db
        .updateTable('cache_flight')
        .set({ state: 'paused', until })
        .where('key_hash', '=', keyHash)
        .where('owner', '=', owner)
        .execute()
    },

    expire: async (before) => {
      await db.deleteFrom('cache_flight').where('until', '<', before).execute()
    },
  }
}
