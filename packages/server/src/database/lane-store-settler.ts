import { setImmediate } from 'node:timers/promises'
import type { LaneClaim, LaneStore, Settled, Settlement } from '../delivery/lane.ts'
import type { ControlDatabase } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { isPlain, settlePlain, type ClaimedSettlement, type SettledGroup } from './lane-store-settle-group.ts'
import { settleTogether } from './lane-store-settle-together.ts'
import { settleLane } from './lane-store-settle.ts'
import { inTransaction } from './transaction.ts'
import { unsyncedTransaction } from './unsynced-transaction.ts'

/** Messages and settlements that one transaction takes; more only make it longer. */
const GROUP_MESSAGES = 2000
const GROUP_SETTLEMENTS = 200

interface Waiting extends ClaimedSettlement {
  resolve(settled: Settled): void
  reject(error: unknown): void
}

/**
 * Settles what several lanes have to record in one transaction: what comes while one runs goes together in the next, so
 * that the cost of a commit is shared just when there is much to commit, and nobody waits for company.
 */
export function createSettler(db: ControlDatabase): LaneStore['settle'] {
  const waiting: Waiting[] = []
  let running: Promise<void> | null = null

  async function settleWaiting(): Promise<void> {
    while (waiting.length > 0) {
      // What arrived in the same turn of the event loop goes together, also where a transaction blocks it.
      await setImmediate()
      let group: readonly Waiting[] = []
      // Not before there is a connection, or the transaction has begun: until then more may join.
      const settled = await begin(db, () => (group = takeGroup(waiting))).catch(() => null)
      for (const one of group) {
        const state = settled?.get(one)
        if (state) one.resolve(state)
        // By itself, one after the other: the reason concerns one of them, and the others know nothing of it.
        else await settleAlone(db, one).then(one.resolve, one.reject)
      }
      // The database could not begin a transaction.
      if (group.length === 0)
        for (const one of takeGroup(waiting)) await settleAlone(db, one).then(one.resolve, one.reject)
    }
    running = null
  }

  return (claim, settlement) => {
    if (!isPlain({ claim, settlement })) return settleAlone(db, { claim, settlement })
    return new Promise((resolve, reject) => {
      waiting.push({ claim, settlement, resolve, reject })
      running ??= settleWaiting()
    })
  }
}

/** Throws, and leaves everything as it was, when they cannot be settled together. */
function begin(db: ControlDatabase, take: () => readonly ClaimedSettlement[]): Promise<SettledGroup> {
  if (hasRowLocks(db)) return db.connection().execute((connection) => settleTogether(db, connection, take()))
  return unsyncedTransaction(db, async (tx) => {
    const settled = await settlePlain(tx, take())
    if (settled === null) throw new UnexpectedRows()
    return settled
  })
}

function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  let messages = 0
  let count = 0
  for (const { settlement } of waiting) {
    messages += settlement.acknowledged.length
    if (count > 0 && (messages > GROUP_MESSAGES || count >= GROUP_SETTLEMENTS)) break
    count += 1
  }
  return waiting.splice(0, count)
}

function settleAlone(
  db: ControlDatabase,
  { claim, settlement }: { readonly claim: LaneClaim; readonly settlement: Settlement },
): Promise<Settled> {
  return inTransaction(db, (tx) => settleLane(tx, claim, settlement))
}

/** Rolls the transaction of a group back. */
class UnexpectedRows extends Error {}
