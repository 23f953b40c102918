import type { Clock } from '../platform/clock.ts'
import type { Batch, ProjectVersion } from './batch.ts'
import type { BatchAnswer, BatchStore, KeptBatch, Unfinished } from './batch-store.ts'
import type { FactStore, NumberedBatch } from './fact-store.ts'
import { finishBatches } from './finish-batches.ts'

/** What one version must put right before anything else is committed to it. */
export interface Repairs {
  readonly version: ProjectVersion
  tablesOf(batch: Batch): readonly string[]
  add(unfinished: Unfinished): void
  /**
   * Takes unfinished batches back, stores those that are kept, and completes unfinished rollbacks, in order. Returns the answers of batches that turned out to be done.
   * Throws when an engine is away; what is left stays on the list.
   */
  run(): Promise<ReadonlyMap<number, BatchAnswer>>
}

export interface RepairDependencies {
  readonly facts: FactStore
  readonly batches: BatchStore
  readonly clock: Clock
  /** Reads a batch again that was read and accepted before. */
  readonly readKept: (version: ProjectVersion, kept: KeptBatch) => Promise<Batch>
  /** Makes an identifier that nothing else has. */
  readonly newAttempt: () => string
}

export function createRepairs(version: ProjectVersion, dependencies: RepairDependencies): Repairs {
  const { facts } = dependencies
  const waiting: Unfinished[] = []
  let last: Promise<unknown> = Promise.resolve()

  async function runAll(): Promise<ReadonlyMap<number, BatchAnswer>> {
    const done = new Map<number, BatchAnswer>()
    while (waiting.length > 0) {
      const group = takeSameKind(waiting)
      for (const [sequence, answer] of await repair(group, dependencies)) done.set(sequence, answer)
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
  dependencies: RepairDependencies,
): Promise<ReadonlyMap<number, BatchAnswer>> {
  const { facts, batches } = dependencies
  const [first] = group
  if (!first) return new Map()
  if (first.kind === 'rollback') {
    await facts.rollBack(first, { ...first.order, beforeSequence: first.sequence })
    await batches.forget([first.sequence], true)
    return new Map()
  }
  const kept = group.filter(isKept)
  const others = group.filter((each) => !isKept(each)).map(({ sequence }) => sequence)
  const done = others.length === 0 ? new Map<number, BatchAnswer>() : await batches.cancel(others)
  const undone = group.filter(({ sequence }) => !done.has(sequence))
  const tables = new Set(undone.flatMap((each) => (each.kind === 'batch' ? each.tables : [])))
  if (tables.size > 0) {
    await facts.erase(
      first,
      undone.map(({ sequence }) => sequence),
      [...tables],
    )
  }
  const forgotten = others.filter((sequence) => !done.has(sequence))
  if (forgotten.length > 0) await batches.forget(forgotten, tables.size > 0)
  if (kept.length > 0) await storeAgain(first, kept, dependencies)
  return done
}

type KeptUnfinished = Unfinished & { readonly kind: 'batch'; readonly kept: KeptBatch }

function isKept(each: Unfinished): each is KeptUnfinished {
  return each.kind === 'batch' && each.kept !== undefined
}

/** Stores batches that were answered, once what was stored of them is erased: how much that was, nobody knows any more. */
async function storeAgain(
  version: ProjectVersion,
  group: readonly KeptUnfinished[],
  { facts, batches, clock, readKept, newAttempt }: RepairDependencies,
): Promise<void> {
  const numbered: NumberedBatch[] = []
  for (const { sequence, kept } of group) {
    const batch = await readKept(version, kept)
    await facts.prepare(version, batch)
    numbered.push({ sequence, batch })
  }
  await facts.write(version, numbered, newAttempt())
  await finishBatches({ batches, clock }, version, numbered, true)
}
