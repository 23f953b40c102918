/** A request's place among those of its project. */
export interface Turn {
  /** Resolves when every earlier request has gone in or given up. */
  readonly reached: Promise<void>
  /** Lets the next one in. Must be called once, whatever happens. */
  end(): void
}

/**
 * Keeps requests of one project in order of arrival although reading them takes different times: without it a rollback,
 * which is read at once, would overtake the batches sent before it.
 */
export function createOrderOfArrival(): (key: number) => Turn {
  const tails = new Map<number, Promise<void>>()
  return (key) => {
    const reached = tails.get(key) ?? Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const tail = reached.then(() => promise)
    tails.set(key, tail)
    void tail.then(() => tails.get(key) === tail && tails.delete(key))
    return {
      reached,
      end: resolve,
    }
  }
}
