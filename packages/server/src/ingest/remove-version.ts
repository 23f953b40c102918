import type { ProjectVersion } from './batch.ts'
import type { BatchStore } from './batch-store.ts'
import type { FactStore } from './fact-store.ts'
import { patiently, type Patience } from './patience.ts'

interface Stores extends Patience {
  readonly facts: FactStore
  readonly batches: BatchStore
}

/** Removes the data of a deleted version, and what was answered of it (IN-4, CA-6). May be repeated. */
export async function removeVersion(version: ProjectVersion, stores: Stores): Promise<void> {
  await stores.batches.endVersion(version)
  await patiently(() => stores.facts.dropVersion(version), stores)
  // What was computed meanwhile has seen some of it.
  await stores.batches.endVersion(version)
}

/**
 * Removes what is kept of deleted versions all the same: an instance died before it had removed one, or another instance was about to
 * make a table in it.
 */
export async function removeLeftVersions(stores: Stores): Promise<void> {
  for (const version of await stores.batches.findDeleted(await stores.facts.findVersions())) {
    await removeVersion(version, stores)
  }
}
