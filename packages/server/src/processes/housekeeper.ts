import type { Logger } from '../platform/logger.ts'

/** Something that must be done again and again: expiring dead letters, cursors, cached answers. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Returns how much was removed, for the log. */
  run(signal: AbortSignal): Promise<number>
}

export interface Housekeeper {
  start(): void
  /** Resolves when the chore that is running, if any, has ended. */
  stop(): Promise<void>
}

/** Runs each chore in its own rhythm, one run of a chore at a time. A failed run is logged and tried again next time. */
export function createHousekeeper(chores: readonly Chore[], log: Logger): Housekeeper {
  const controller = new AbortController()
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()

  function schedule(chore: Chore): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      const run = runOnce(chore).finally(() => {
        running.delete(run)
        if (!controller.signal.aborted) schedule(chore)
      })
      running.add(run)
    }, chore.everyMs)
    timers.add(timer)
  }

  async function runOnce(chore: Chore): Promise<void> {
    try {
      const removed = await chore.run(controller.signal)
      if (removed > 0) log.info({ chore: chore.name, removed }, 'housekeeper.removed')
    } catch (error) {
      log.error({ chore: chore.name, err: error }, 'housekeeper.failed')
    }
  }

  return {
    start: () => chores.forEach(schedule),
    async stop() {
      controller.abort()
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
