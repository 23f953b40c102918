import { cancellation, ServiceError } from '../platform/errors.ts'

/** How many statements run and wait (SQ-7). */
export interface GateLimits {
  /** Statements of all projects that run at once in this process. */
  readonly runningMax: number
  /** Statements of one project that run at once. */
  readonly projectRunningMax: number
  /** Statements of one project that wait. */
  readonly projectQueueMax: number
}

/** Lets statements run in turn. */
export interface ExecutionGate {
  /**
   * Resolves when the statement may run, with what to call when it has ended. Throws `resource_exhausted` when too
   * many of the project wait already, and `cancelled` when the signal comes first.
   */
  enter(projectId: number, signal: AbortSignal): Promise<() => void>
  /** Statements of a project that wait. */
  queueLength(projectId: number): number
}

interface Waiter {
  admit(): void
}

/**
 * A gate that takes the projects in turn, whatever the number of statements of each: one that waits alone is next as
 * soon as a place is free, though fifty of another project came before it.
 */
export function createExecutionGate(limits: GateLimits): ExecutionGate {
  const running = new Map<number, number>()
  /** In the order of turns: whoever was served goes to the end. */
  const waiting = new Map<number, Waiter[]>()
  let total = 0

  const runningOf = (projectId: number): number => running.get(projectId) ?? 0
  const hasRoom = (projectId: number): boolean =>
    total < limits.runningMax && runningOf(projectId) < limits.projectRunningMax

  function occupy(projectId: number): () => void {
    total++
    running.set(projectId, runningOf(projectId) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      total--
      const left = runningOf(projectId) - 1
      if (left === 0) running.delete(projectId)
      else running.set(projectId, left)
      admitNext()
    }
  }

  function admitNext(): void {
    for (const [projectId, waiters] of waiting) {
      if (!hasRoom(projectId)) continue
      waiting.delete(projectId)
      const next = waiters.shift()
      if (waiters.length > 0) waiting.set(projectId, waiters)
      next?.admit()
      return
    }
  }

  function leave(projectId: number, waiter: Waiter): void {
    const left = (waiting.get(projectId) ?? []).filter((each) => each !== waiter)
    if (left.length > 0) waiting.set(projectId, left)
    else waiting.delete(projectId)
  }

  function wait(projectId: number, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit() {
          signal.removeEventListener('abort', giveUp)
          resolve(occupy(projectId))
        },
      }
      const giveUp = (): void => {
        leave(projectId, waiter)
        reject(cancellation(signal))
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.set(projectId, [...(waiting.get(projectId) ?? []), waiter])
    })
  }

  return {
    async enter(projectId, signal) {
      if (signal.aborted) throw cancellation(signal)
      const queueLength = waiting.get(projectId)?.length ?? 0
      if (queueLength === 0 && hasRoom(projectId)) return occupy(projectId)
      if (queueLength >= limits.projectQueueMax) {
        throw new ServiceError(
          'resource_exhausted',
          `${runningOf(projectId)} statements of the project run and ${queueLength} wait; at most ${limits.projectQueueMax} may wait`,
          { retryAfterSeconds: 5 },
        )
      }
      return wait(projectId, signal)
    },
    queueLength: (projectId) => waiting.get(projectId)?.length ?? 0,
  }
}
