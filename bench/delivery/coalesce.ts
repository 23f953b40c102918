/** Gathers what comes while something is being stored, and stores it together next: nobody waits for the disk alone. */
export function coalesce<T>(
  store: (items: readonly T[]) => Promise<unknown>,
): (items: readonly T[]) => Promise<void> {
  let waiting: T[] = []
  let next: Promise<void> | null = null
  let last: Promise<unknown> = Promise.resolve()

  async function storeWaiting(): Promise<void> {
    await last
    const items = waiting
    waiting = []
    next = null
    const stored = store(items)
    last = stored.catch(() => undefined)
    await stored
  }

  return (items) => {
    waiting.push(...items)
    next ??= storeWaiting()
    return next
  }
}
