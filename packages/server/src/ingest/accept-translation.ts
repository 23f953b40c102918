import { createHash } from 'node:crypto'
import type { Project } from '../projects/project.ts'
import type { Ingest } from './ingest.ts'
import { RefusedRecords } from './refused-records.ts'
import type { Translation } from './translation.ts'

/** What became of a request of another system. */
export interface AcceptedTranslation {
  readonly accepted: number
  /** Why the others were refused, one sentence each. */
  readonly rejected: readonly string[]
}

/** A batch whose faults do not end is refused; each attempt tells a thousand of them. */
const ATTEMPTS = 20

/**
 * Stores what another system sent. Its records come from many places, so that one of them at fault must not keep the others out: those that
 * the batch is refused for are left out and told. The batch id is a hash of the content, so that a request which is
 * sent again changes nothing (IN-2). What is said of metrics alone may be said again after it was said otherwise, and counts then.
 */
export async function acceptTranslation(
  ingest: Pick<Ingest, 'accept'>,
  project: Project,
  translation: Translation,
  options: { readonly source: string; readonly version: number | null },
): Promise<AcceptedTranslation> {
  const rejected = [...translation.rejected]
  const isMetadata = translation.records.every((record) => 'type' in record && record.type === 'metric')
  let lines = translation.records.map((record, index) => ({
    text: JSON.stringify(record),
    point: translation.points?.[index] ?? index,
  }))
  for (let attempt = 1; lines.length > 0; attempt++) {
    const body = Buffer.from(lines.map(({ text }) => text).join('\n'))
    try {
      const { accepted } = await ingest.accept(project, {
        body,
        contentType: 'application/x-ndjson',
        batchId: isMetadata
          ? null
          : `${options.source}-${createHash('sha256').update(body).digest('base64url')}`,
        version: options.version,
      })
      return { accepted, rejected }
    } catch (error) {
      const faults = attempt < ATTEMPTS ? faultsOf(error) : new Map<number, string>()
      if (faults.size === 0) throw error
      const reasons = new Map<number, string>()
      for (const [index, reason] of faults) {
        const { point } = lines[index] ?? {}
        if (point !== undefined && !reasons.has(point)) reasons.set(point, reason)
      }
      rejected.push(...reasons.values())
      lines = lines.filter(({ point }) => !reasons.has(point))
    }
  }
  return { accepted: 0, rejected }
}

/** The records that a batch was refused for, by index, with the reason; none when it was refused for something else. */
function faultsOf(error: unknown): ReadonlyMap<number, string> {
  if (!(error instanceof RefusedRecords)) return new Map()
  return new Map(error.faults.map(({ index, field, message }) => [index, `${field} ${message}`]))
}
