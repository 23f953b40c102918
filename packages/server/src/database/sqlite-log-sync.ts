/** Makes commits durable beside the event loop, several at a time. */
export interface LogSync {
  /** To be called after a commit whose caller is to be told only when it is on the disk. */
  noteCommit(): void
  /**
   * Resolves when every commit that was noted is on the disk; at once when none is under way. Rejects when the disk refused, and from then on
   * always, because nobody knows what it has.
   */
  synced(): Promise<void>
}

const DONE = Promise.resolve()

/** `sync` makes durable what had been written when it was called. What is committed meanwhile goes together in the next. */
export function createLogSync(sync: () => Promise<void>): LogSync {
  let isDue = false
  let running: Promise<void> | null = null
  let following: Promise<void> | null = null

  function start(): Promise<void> {
    isDue = false
    following = null
    const one = sync()
    running = one
    one.then(
      () => (running = null),
      () => undefined,
    )
    return one
  }

  return {
    noteCommit() {
      isDue = true
    },
    synced() {
      if (!isDue) return following ?? running ?? DONE
      following ??= running?.then(start) ?? null
      return following ?? start()
    },
  }
}
