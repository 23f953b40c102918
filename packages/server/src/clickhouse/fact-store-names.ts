import type { Batch } from '../ingest/batch.ts'
import { invalidArgument } from '../platform/errors.ts'
import { ATTRIBUTE_TABLES, type AttributeTables } from './attribute-tables.ts'
import type { VersionSchema } from './fact-store-schema.ts'

/** What a name can stand for in SQL. */
type Noun = AttributeTables['noun'] | 'metric'

/** Throws `invalid_argument` when SQL users see something else under the name already. */
export function checkNameIsFree({ metrics, known }: VersionSchema, name: string, noun: Noun): void {
  if (noun !== 'metric' && metrics.has(name)) refuse(name, 'a metric', noun)
  for (const tables of ATTRIBUTE_TABLES) {
    if (tables.noun !== noun && known[tables.noun].has(name)) refuse(name, article(tables.noun), noun)
  }
  for (const entity of known.entity.keys()) {
    if (historyOf(entity) === name) refuse(name, `the history of the entity ${entity}`, noun)
  }
}

/** Throws `invalid_argument` when a batch uses one name for two things. */
export function checkNamesApart(batch: Batch): void {
  const nouns = new Map<string, string>()
  const take = (name: string, as: string): void => {
    const other = nouns.get(name) ?? as
    if (other !== as) {
      throw invalidArgument(`the name ${name} is used for ${other} and ${as}; one of them needs another name`)
    }
    nouns.set(name, as)
  }
  for (const { metric } of batch.series) take(metric, 'a metric')
  for (const tables of ATTRIBUTE_TABLES) {
    for (const name of tables.rowsOf(batch).keys()) {
      take(name, article(tables.noun))
      for (const shown of tables.shownNames(name)) {
        if (shown !== name) take(shown, `the history of ${name}`)
      }
    }
  }
}

function historyOf(entity: string): string | undefined {
  const tables = ATTRIBUTE_TABLES.find(({ noun }) => noun === 'entity')
  return tables?.shownNames(entity)[1]
}

function article(noun: AttributeTables['noun']): string {
  return noun === 'entity' ? 'an entity' : 'an event log'
}

function refuse(name: string, is: string, noun: Noun): never {
  const wanted = noun === 'metric' ? 'a metric' : article(noun)
  throw invalidArgument(`the name ${name} is ${is}; ${wanted} of the project cannot have it too`)
}
