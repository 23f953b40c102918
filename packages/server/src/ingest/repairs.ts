import type { Batch, ProjectVersion } from './batch.ts'
import type { BatchAnswer, BatchStore, Unfinished } from './batch-store.ts'
import type { FactStore } from './fact-store.ts'

/** What one version must put right before anything else is committed to it. */
export interface Repairs {
  readonly version: ProjectVersion
  tablesOf(batch: Batch): readonly string[]
  add(unfinished: Unfinished): void
  /**
   * Takes unfinished batches back and completes unfinished rollbacks, in order. Returns the answers of batches that turned out to be done.
   * Throws when an engine is away; what is left stays on the list.
   */
  run(): Promise<ReadonlyMap<number, BatchAnswer>>
}

export function createRepairs(version: ProjectVersion, facts: FactStore, batches: BatchStore): Repairs {
  const waiting: Unfinished[] = []
  let last: Promise<unknown> = Promise.resolve()

  async function runAll(): Promise<ReadonlyMap<number, BatchAnswer>> {
    const done = new Map<number, BatchAnswer>()
    while (waiting.length > 0) {
      const group = takeSameKind(waiting)
      for (const [sequence, answer] of await repair(group, facts, batches)) done.set(sequence, answer)
      waiting.splice(0, group.length)
    }
    return done
  }

  return {
    version,
    tablesOf: (batch) => facts.tablesOf(batch),
    add: (unfinished) => void waiting.push(unfinished),
    run: () => {
      const next = last.then(runAll)
      last = next.catch(() => undefined)
      return next
    },
  }
}

/** The batches at the head of the list, which can be erased together, or one rollback. */
function takeSameKind(waiting: readonly Unfinished[]): readonly Unfinished[] {
  if (waiting[0]?.kind === 'rollback') return waiting.slice(0, 1)
  const end = waiting.findIndex(({ kind }) => kind === 'rollback')
  return waiting.slice(0, end === -1 ? undefined : end)
}

async function repair(
  group: readonly Unfinished[],
  facts: FactStore,
  batches: BatchStore,
): Promise<ReadonlyMap<number, BatchAnswer>> {
  const [first] = group
  if (!first) return new Map()
  if (first.kind === 'rollback') {
    await facts.rollBack(first, { ...first.order, beforeSequence: first.sequence })
    await batches.forget([first.sequence], true)
    return new Map()
  }
  const done = await batches.cancel(group.map(({ sequence }) => sequence))
  const undone = group.filter(({ sequence }) => !done.has(sequence))
  const sequences = undone.map(({ sequence }) => sequence)
  const tables = new Set(undone.flatMap((each) => (each.kind === 'batch' ? each.tables : [])))
  if (tables.size > 0) await facts.erase(first, sequences, [...tables])
  if (sequences.length > 0) await batches.forget(sequences, tables.size > 0)
  return done
}
