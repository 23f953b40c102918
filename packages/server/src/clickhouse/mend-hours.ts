import type { ProjectVersion } from '../ingest/batch.ts'
import type { FactEngine } from './fact-engine.ts'
import { quoteIdentifier, quoteString, versionDatabases } from './layout.ts'

const MEND_TIMEOUT_MS = 600_000

/**
 * Makes the hours of samples anew where they count samples in that a rollback removed, month by month, and tells the version of each month that
 * is done. Builds before the first release left such parts: they hold deleted rows and hours at once, which a deletion leaves in none today.
 */
export async function* mendHours(engine: FactEngine): AsyncGenerator<ProjectVersion> {
  const found = await engine.rows<{ project: string; version: string; id: string }>(
    `select distinct extractGroups(database, '^millrace_p([0-9]+)_v([0-9]+)_facts$') as found,
       found[1] as project, found[2] as version, partition_id as id
     from system.parts
     where project != '' and table = 'points' and active and has_lightweight_delete and has(projections, 'hourly')`,
  )
  for (const { project, version, id } of found) {
    const owner = { projectId: Number(project), version: Number(version) }
    const { facts } = versionDatabases(owner.projectId, owner.version)
    // Rewrites the parts that hold deleted rows, and their hours with them.
    await engine.command(
      `alter table ${quoteIdentifier(facts)}.points apply deleted mask in partition id ${quoteString(id)} settings mutations_sync = 1`,
      { timeoutMs: MEND_TIMEOUT_MS },
    )
    yield owner
  }
}
