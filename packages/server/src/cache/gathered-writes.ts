import type { KeyedResult, ResultStore } from './result-store.ts'

/** Most answers that share a commit, so that it does not take long. */
const GATHERED_MAX = 32

interface Batch {
  readonly results: KeyedResult[]
  readonly written: Promise<void>
}

/**
 * A commit costs more than what is in it: answers that are written within `gatherMs` of each other share one. Each key may be written again
 * only after its write before has ended. With 0, every answer is written at once, where others can find it.
 */
export function createGatheredWrites(
  store: Pick<ResultStore, 'write'>,
  sleep: (ms: number) => Promise<unknown>,
  gatherMs: number,
): (result: KeyedResult) => Promise<void> {
  let open: Batch | null = null

  function begin(): Batch {
    const results: KeyedResult[] = []
    const batch: Batch = {
      results,
      written: sleep(gatherMs).then(() => {
        if (open === batch) open = null
        return store.write(results)
      }),
    }
    return batch
  }

  return (result) => {
    if (gatherMs === 0) return store.write([result])
    if (!open || open.results.length === GATHERED_MAX) open = begin()
    open.results.push(result)
    return open.written
  }
}
