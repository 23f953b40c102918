import { MillraceError } from '../client/millrace-error.ts'
import { projectPath, requestWithRetry, type Connection, type RetryOptions } from '../client/request.ts'
import { fromColumn, type EntityFilter, type EntityRow } from './entity-state.ts'

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

const NO_SUCH_TABLE: ReadonlySet<unknown> = new Set(['UNKNOWN_TABLE', 'UNKNOWN_IDENTIFIER'])

/** Opens a reader. An entity that nothing was stored of yet, or without the field that is asked for, has no states. */
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
      const table = quote(entity)
      try {
        const columns = await query(`describe table ${table}`, {})
        const types = new Map(columns.map(({ name, type }) => [name as string, type as string]))
        const conditions = filters.map((filter, index) =>
          condition(filter, index, types.get(filter.field) ?? 'String'),
        )
        const where = ['`__chain` = {chain:String}', ...conditions.map(({ sql }) => sql)].join(' and ')
        const rows = await query(`select * from ${table} where ${where} order by id limit ${limit}`, {
          chain,
          ...Object.fromEntries(conditions.flatMap(({ parameters }) => parameters)),
        })
        return rows.map((row) => toEntity(row, types))
      } catch (error) {
        if (
          error instanceof MillraceError &&
          error.details.some((each) => NO_SUCH_TABLE.has((each as Row)['engineCode']))
        ) {
          return []
        }
        throw error
      }
    },
  }
}

function toEntity(row: Row, types: ReadonlyMap<string, string>): EntityRow {
  const entity: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    const decoded = name.startsWith('__') ? undefined : fromColumn(value, types.get(name) ?? '')
    if (decoded !== undefined) entity[name] = decoded
  }
  return { ...entity, id: String(row['id']) }
}

/** The text and the parameters of a condition. Each element of `in` is a parameter of its own: lists of wide integers cannot be one. */
function condition({ field, op, value }: EntityFilter, index: number, columnType: string) {
  const type = columnType.replace(/^Nullable\((.*)\)$/, '$1')
  const values = op === 'in' ? (value as readonly unknown[]) : [value]
  const parameters = values.map((each, i) => [`v${index}_${i}`, parameterOf(each)] as const)
  const [first = 'null', ...others] = parameters.map(([name]) => `{${name}:${type}}`)
  const column = quote(field)
  if (op === 'in') return { sql: `${column} in (${[first, ...others].join(', ')})`, parameters }
  const sql = op === '!=' ? `(${column} != ${first} or ${column} is null)` : `${column} ${op} ${first}`
  return { sql, parameters }
}

function parameterOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Date ? value.toISOString().replace('T', ' ').replace('Z', '') : value
}

function quote(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
