import type { FactEngine } from './fact-engine.ts'
import { quoteIdentifier, quoteString } from './layout.ts'

const MEND_TIMEOUT_MS = 600_000

/**
 * Makes the hours of samples anew where they count samples in that a rollback removed, and returns in how many partitions. Builds before the
 * first release left such parts: they hold deleted rows and hours at once, which a deletion leaves in none today.
 */
export async function mendHours(engine: FactEngine): Promise<number> {
  const found = await engine.rows<{ database: string; id: string }>(
    `select distinct database, partition_id as id from system.parts
     where match(database, '^millrace_p[0-9]+_v[0-9]+_facts$') and table = 'points' and active
       and has_lightweight_delete and has(projections, 'hourly')`,
  )
  for (const { database, id } of found) {
    // Rewrites the parts that hold deleted rows, and their hours with them.
    await engine.command(
      `alter table ${quoteIdentifier(database)}.points apply deleted mask in partition id ${quoteString(id)} settings mutations_sync = 1`,
      { timeoutMs: MEND_TIMEOUT_MS },
    )
  }
  return found.length
}
