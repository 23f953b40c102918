import type { ProjectVersion } from '../ingest/batch.ts'
import type { FactEngine } from './fact-engine.ts'
import { addHours, HOURS, quoteIdentifier, quoteString, versionDatabases } from './layout.ts'

const MEND_TIMEOUT_MS = 600_000
/** The hours of earlier builds, whose sums depended on the order of addition. */
const EARLIER_HOURS = 'hourly'

interface MonthOfVersion {
  readonly project: string
  readonly version: string
  readonly id: string
  /** 1 where a part holds rows that a rollback removed. */
  readonly hasDeleted: number
}

/**
 * Makes hours of samples anew, month by month, and tells the version of each month that is done: where an earlier build made them, which are read as
 * samples until then; and where they count samples in that a rollback removed.
 */
export async function* mendHours(engine: FactEngine): AsyncGenerator<ProjectVersion> {
  const withEarlier = await engine.rows<{ name: string }>(
    `select database as name from system.tables where table = 'points' and match(database, '^millrace_p[0-9]+_v[0-9]+_facts$')
     and position(create_table_query, 'PROJECTION ${EARLIER_HOURS} ') > 0`,
  )
  for (const { name } of withEarlier) {
    await engine.command(addHours(name))
    const months = await monthsWhere(
      engine,
      `database = ${quoteString(name)} and not has(projections, '${HOURS}')`,
    )
    for (const month of months) {
      // What is made of a part counts its deleted rows in, so that they have to go first; that writes all parts anew, and so takes longer than the hours.
      if (month.hasDeleted === 1) await alterMonth(engine, month, 'apply deleted mask')
      await alterMonth(engine, month, `materialize projection ${HOURS}`)
      yield ownerOf(month)
    }
    await engine.command(
      `alter table ${quoteIdentifier(name)}.points drop projection if exists ${EARLIER_HOURS} settings mutations_sync = 1`,
      { timeoutMs: MEND_TIMEOUT_MS },
    )
  }
  // A deletion leaves no part with both deleted rows and hours, but one during the above may have.
  for (const month of await monthsWhere(engine, `has_lightweight_delete and has(projections, '${HOURS}')`)) {
    // Rewrites the parts that hold deleted rows, and their hours with them.
    await alterMonth(engine, month, 'apply deleted mask')
    yield ownerOf(month)
  }
}

/** Months of versions with parts of samples for which a condition holds. */
function monthsWhere(engine: FactEngine, condition: string): Promise<MonthOfVersion[]> {
  return engine.rows<MonthOfVersion>(
    `select extractGroups(database, '^millrace_p([0-9]+)_v([0-9]+)_facts$') as found,
       found[1] as project, found[2] as version, partition_id as id, max(has_lightweight_delete) as hasDeleted
     from system.parts
     where project != '' and table = 'points' and active and ${condition}
     group by database, id
     order by database, id`,
  )
}

async function alterMonth(engine: FactEngine, month: MonthOfVersion, action: string): Promise<void> {
  const { projectId, version } = ownerOf(month)
  const { facts } = versionDatabases(projectId, version)
  await engine.command(
    `alter table ${quoteIdentifier(facts)}.points ${action} in partition id ${quoteString(month.id)} settings mutations_sync = 1`,
    { timeoutMs: MEND_TIMEOUT_MS },
  )
}

function ownerOf({ project, version }: MonthOfVersion): ProjectVersion {
  return { projectId: Number(project), version: Number(version) }
}
