import type { Logger } from '../platform/logger.ts'
import type { ProjectVersion } from './batch.ts'
import type { BatchStore } from './batch-store.ts'
import type { FactStore, NumberedBatch } from './fact-store.ts'
import { finishBatches } from './finish-batches.ts'
import { patiently, type Patience } from './patience.ts'

/** A batch that was answered and is to be stored. */
export interface AnsweredBatch extends NumberedBatch {
  /** Size of its body. */
  readonly bytes: number
  /** Lets readers go on that wait for it. */
  noteStored(): void
}

/** Batches of one version that were answered when they were recorded, on their way into the facts. */
export interface KeptBatches {
  /** Is there room for so many bytes more? Not while the engine is slow or fails: until it is back nobody is answered early. */
  hasRoom(bytes: number): boolean
  add(batches: readonly AnsweredBatch[]): void
  isEmpty(): boolean
  /** Resolves when nothing is left, or the engine fails: what is left then is stored at the next start. */
  stop(): Promise<void>
}

export interface KeptDependencies extends Patience {
  readonly facts: FactStore
  readonly batches: BatchStore
  readonly log: Pick<Logger, 'error'>
  readonly maxKeptBytes: number
  /** What is kept of all versions together; counted here. */
  readonly keptBytes: { now: number }
}

/** A statement of the control database stays far below its limit of bound values. */
const MAX_GROUP_BATCHES = 500
const RETRY_MS = 1000
/** Readers wait as long as storing takes. */
const SLOW_MS = 2000

export function createKeptBatches(
  version: ProjectVersion,
  dependencies: KeptDependencies,
  onEmpty: () => void,
): KeptBatches {
  const { facts, batches, clock, log, sleep, maxKeptBytes, keptBytes } = dependencies
  const waiting: AnsweredBatch[] = []
  let startedAt = Infinity
  let isFailing = false
  let isStopping = false
  let running: Promise<void> | null = null

  const hasGivenUp = (): boolean => isStopping && isFailing

  async function run(): Promise<void> {
    while (waiting.length > 0 && !hasGivenUp()) {
      const group = waiting.splice(0, MAX_GROUP_BATCHES)
      startedAt = clock.monotonic()
      await storeGroup(group)
      for (const each of group) keptBytes.now -= each.bytes
    }
    running = null
    startedAt = Infinity
    onEmpty()
  }

  /** Tries until it succeeds: what was answered cannot be refused any more. Always the same group, whose second insert changes nothing. */
  async function storeGroup(group: readonly AnsweredBatch[]): Promise<void> {
    for (let isWritten = false; ;) {
      try {
        if (!isWritten) await patiently(() => facts.write(version, group), dependencies)
        isWritten = true
        await finishBatches(dependencies, version, group, true)
        isFailing = false
        break
      } catch (error) {
        isFailing = true
        log.error({ err: error, ...version, batches: group.length }, 'ingest.kept_not_stored')
        if (await isUnwanted(group)) break
        if (isStopping) return
        await sleep(RETRY_MS)
      }
    }
    for (const { noteStored } of group) noteStored()
  }

  /** Was their version deleted, or its project removed? */
  async function isUnwanted([first]: readonly AnsweredBatch[]): Promise<boolean> {
    try {
      return first !== undefined && !(await batches.isWanted(first.sequence))
    } catch {
      return false
    }
  }

  return {
    hasRoom: (more) =>
      keptBytes.now + more <= maxKeptBytes && !isFailing && !(clock.monotonic() - startedAt > SLOW_MS),
    add: (added) => {
      if (added.length === 0) return
      waiting.push(...added)
      for (const each of added) keptBytes.now += each.bytes
      running ??= run()
    },
    isEmpty: () => running === null,
    stop: async () => {
      isStopping = true
      await running
    },
  }
}
