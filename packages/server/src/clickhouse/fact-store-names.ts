import type { Batch } from '../ingest/batch.ts'
import type { Fault } from '../ingest/refused-records.ts'
import { ATTRIBUTE_TABLES, type AttributeTables } from './attribute-tables.ts'
import type { VersionSchema } from './fact-store-schema.ts'

/** What a name can stand for in SQL. */
type Noun = AttributeTables['noun'] | 'metric'

/** Why a new metric, event log or entity cannot be called so: SQL users see something else under the name already. */
export function whyNameIsTaken({ metrics, known }: VersionSchema, name: string, noun: Noun): string | null {
  if (noun !== 'metric' && metrics.has(name)) return taken(name, 'a metric', noun)
  for (const tables of ATTRIBUTE_TABLES) {
    if (tables.noun !== noun && known[tables.noun].has(name)) return taken(name, article(tables.noun), noun)
  }
  for (const entity of known.entity.keys()) {
    if (historyOf(entity) === name) return taken(name, `the history of the entity ${entity}`, noun)
  }
  return null
}

/** What of a batch uses one name for two things, each by its first record. */
export function findNamesOfTwo(batch: Batch): readonly Fault[] {
  const faults: Fault[] = []
  const nouns = new Map<string, string>()
  const take = (name: string, as: string, index: () => number): void => {
    const other = nouns.get(name) ?? as
    if (other !== as) {
      const message = `${name} is used for ${other} and ${as}; one of them needs another name`
      faults.push({ index: index(), field: 'name', message })
    }
    nouns.set(name, as)
  }
  for (const each of batch.series) {
    take(each.metric, 'a metric', () => batch.samples.find(({ series }) => series === each)?.index ?? 0)
  }
  for (const tables of ATTRIBUTE_TABLES) {
    for (const [name, rows] of tables.rowsOf(batch)) {
      const index = () => rows[0]?.index ?? 0
      take(name, article(tables.noun), index)
      for (const shown of tables.shownNames(name)) {
        if (shown !== name) take(shown, `the history of ${name}`, index)
      }
    }
  }
  return faults
}

function historyOf(entity: string): string | undefined {
  const tables = ATTRIBUTE_TABLES.find(({ noun }) => noun === 'entity')
  return tables?.shownNames(entity)[1]
}

function article(noun: AttributeTables['noun']): string {
  return noun === 'entity' ? 'an entity' : 'an event log'
}

function taken(name: string, is: string, noun: Noun): string {
  const wanted = noun === 'metric' ? 'a metric' : article(noun)
  return `${name} is ${is}; ${wanted} of the project cannot have it too`
}
