import type { StorageUsage } from '../projects/storage-usage.ts'
import type { FactEngine } from './fact-engine.ts'
import { PROJECT_DATABASE_PREFIX } from './layout.ts'

interface PartsRow {
  readonly rows: string
  readonly bytes: string
}

interface DiskRow {
  readonly free: string
  readonly total: string
}

/** Reads from the engine's own tables what its parts take up and what its disks have left. */
export function createStorageUsage(engine: FactEngine): StorageUsage {
  async function parts(databasePrefix: string): Promise<{ rows: number; bytes: number }> {
    const [row] = await engine.rows<PartsRow>(
      'select sum(rows) as rows, sum(bytes_on_disk) as bytes from system.parts where active and startsWith(database, {prefix:String})',
      { parameters: { prefix: databasePrefix } },
    )
    return { rows: Number(row?.rows ?? 0), bytes: Number(row?.bytes ?? 0) }
  }
  return {
    ofProject: (projectId) => parts(`${PROJECT_DATABASE_PREFIX}${projectId}_`),
    disk: async () => {
      const [stored, [disks]] = await Promise.all([
        parts(PROJECT_DATABASE_PREFIX),
        engine.rows<DiskRow>('select sum(free_space) as free, sum(total_space) as total from system.disks'),
      ])
      return {
        storedBytes: stored.bytes,
        freeBytes: Number(disks?.free ?? 0),
        totalBytes: Number(disks?.total ?? 0),
      }
    },
  }
}
