import { MillraceError } from '../client/millrace-error.ts'
import { projectPath, requestWithRetry, type Connection, type RetryOptions } from '../client/request.ts'
import { conditionOf, quoteName } from './entity-condition.ts'
import type { EntityFilter } from './entity-filter.ts'
import { fromColumn, type ColumnKind, type EntityRow } from './entity-state.ts'

interface ReaderOptions extends Connection {
  readonly project: string
  readonly version?: number
  readonly retry?: RetryOptions
  readonly signal?: AbortSignal
}

/** Reads the present state of entities from the service, by SQL. The key needs the permission `read`. */
export interface EntityReader {
  /** States that meet all filters, in order of their ids; those of one chain. */
  list(chain: string, entity: string, filters: readonly EntityFilter[], limit: number): Promise<EntityRow[]>
}

type Row = Readonly<Record<string, unknown>>

/** Opens a reader. An entity that nothing was stored of yet has no states. */
export function createEntityReader(options: ReaderOptions): EntityReader {
  const { project, version, retry, signal } = options

  async function query(sql: string, parameters: Row): Promise<readonly Row[]> {
    const answer = (await requestWithRetry(
      options,
      {
        method: 'POST',
        path: `/analytics/${projectPath(project)}/sql/execute`,
        json: { sqlQuery: { sql, parameters, size: 100_000 }, version, cachePolicy: { noCache: true } },
        ...(signal === undefined ? {} : { signal }),
      },
      retry,
    )) as { readonly result: { readonly rows: readonly Row[] } }
    return answer.result.rows
  }

  return {
    async list(chain, entity, filters, limit) {
      const table = quoteName(entity)
      try {
        const columns = await query(`describe table ${table}`, {})
        const kinds = new Map(columns.map(({ name, ...kind }) => [name as string, kind as Row & ColumnKind]))
        const conditions = filters.map((filter, index) =>
          conditionOf(filter, index, kinds.get(filter.field)?.type),
        )
        const where = ['`__chain` = {chain:String}', ...conditions.map(({ sql }) => sql)].join(' and ')
        const rows = await query(`select * from ${table} where ${where} order by id limit ${limit}`, {
          chain,
          ...Object.fromEntries(conditions.flatMap(({ parameters }) => parameters)),
        })
        return rows.map((row) => toEntity(row, kinds))
      } catch (error) {
        if (
          error instanceof MillraceError &&
          error.details.some((each) => (each as Row)['engineCode'] === 'UNKNOWN_TABLE')
        ) {
          return []
        }
        throw error
      }
    },
  }
}

function toEntity(row: Row, kinds: ReadonlyMap<string, ColumnKind>): EntityRow {
  const entity: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    const kind = kinds.get(name)
    const decoded = kind && !name.startsWith('__') ? fromColumn(value, kind) : undefined
    if (decoded !== undefined) entity[name] = decoded
  }
  return { ...entity, id: String(row['id']) }
}
