/** A request's place among those of its project. */
export interface Turn {
  /** Resolves when every earlier request has gone in or given up. */
  readonly reached: Promise<void>
  /** Resolves when every earlier rollback has: enough for a request that may go in before others. */
  readonly behindRollbacks: Promise<void>
  /** Lets those behind it in. Must be called once, whatever happens. */
  end(): void
}

interface Tail {
  readonly all: Promise<void>
  readonly rollbacks: Promise<void>
}

const NOBODY: Tail = { all: Promise.resolve(), rollbacks: Promise.resolve() }

/**
 * Keeps requests of one project in order of arrival although reading them takes different times: without it a rollback,
 * which is read at once, would overtake the batches sent before it.
 */
export function createOrderOfArrival(): (key: number, kind: 'batch' | 'rollback') => Turn {
  const tails = new Map<number, Tail>()
  return (key, kind) => {
    const before = tails.get(key) ?? NOBODY
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = before.all.then(() => promise)
    const tail = {
      all,
      rollbacks: kind === 'rollback' ? before.rollbacks.then(() => promise) : before.rollbacks,
    }
    tails.set(key, tail)
    void all.then(() => tails.get(key) === tail && tails.delete(key))
    return { reached: before.all, behindRollbacks: before.rollbacks, end: resolve }
  }
}
