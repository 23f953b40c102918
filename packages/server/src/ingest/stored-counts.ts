/** What this process has stored since it started. */
export interface StoredCounts {
  readonly records: number
  /** Repeated ones count once. */
  readonly batches: number
}

/** Counts batches that were stored. */
export function createStoredCounter() {
  let [records, batches] = [0, 0]
  return {
    count: (recordsOfBatch: number): void => {
      records += recordsOfBatch
      batches += 1
    },
    counts: (): StoredCounts => ({ records, batches }),
  }
}
