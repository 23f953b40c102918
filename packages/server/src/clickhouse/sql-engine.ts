import type { Readable } from 'node:stream'
import type {
  BinaryFormat,
  EngineTable,
  Execution,
  RowStream,
  SqlEngine,
  SqlParameters,
} from '../analytics/sql-engine.ts'
import { ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { FactEngine } from './fact-engine.ts'
import { quoteIdentifier, quoteString, versionDatabases } from './layout.ts'
import type { ProjectUsers } from './project-users.ts'
import { readLineBlocks } from './read-line-blocks.ts'

/** A statement is read as the one table of another: what is not a query, or more than one, cannot stand there. */
const WRAPPER = 'select * from (\n'
/** What was admitted there is run between the parentheses alone, which saves the engine a millisecond of resolving the columns again. */
const OPENING = '(\n'
const EXPLAIN = 'explain ast '
const DESCRIBE = 'describe table '
const EXPLAIN_RESOLVED = 'explain query tree '
const NEWLINE = 0x0a
/** The parenthesis behind a statement, where its own text has ended too early. */
const AT_END = /failed at position \d+ \(\)\) \(line \d+, col \d+\): \)\s*(?=\.|$)/
/** What ends there is not told to go on by ending. */
const END_EXPECTED =
  /(failed at the end of the statement\. Expected )(?:(one of: .*,.*)|one of: (.*)) or the end of the statement/
/** The parenthesis before a statement, which lacks a closing one. */
const NEVER_CLOSED = /failed at position \d+ \(\(\) \(line 1, col \d+\): \(\n.*(?=\. Unmatched parentheses)/s

/** What a user's statement runs under, whatever it says. `readonly` keeps it from changing any of it (SQ-2). */
const SANDBOX = {
  readonly: 1,
  allow_ddl: 0,
  allow_introspection_functions: 0,
  max_ast_elements: 50_000,
  max_ast_depth: 1000,
  max_query_size: 1_000_000,
} as const

/** A few rows are written by the thread that has them: to wake others for it takes half a millisecond (measured with 26.7). */
const SHORT = { output_format_parallel_formatting: 0 } as const
/** An explanation is short: the engine need not send it in parts. */
const WHOLE = { ...SHORT, wait_end_of_query: 1 } as const

/** How a statement is read without running it. */
const PARSING = {
  timeoutMs: 10_000,
  settings: { ...SANDBOX, ...WHOLE },
} as const

/** How values are written, so that none loses a digit and each can be told by its column's type (SQ-4). */
const OUTPUT = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 0,
  output_format_json_named_tuples_as_objects: 1,
  output_format_json_escape_forward_slashes: 0,
  output_format_parquet_string_as_string: 1,
  output_format_arrow_string_as_string: 1,
  // Arrow's own library for JavaScript reads no compressed batches.
  output_format_arrow_compression_method: 'none',
  max_block_size: 16_384,
} as const

/**
 * The fact engine as the SQL API needs it. With users, a project's statements run in the name of its own; the profile of those says what
 * `SANDBOX` says for the service's user.
 */
export function createSqlEngine(engine: FactEngine, users?: ProjectUsers): SqlEngine {
  const known = new Set<string>()

  /** The views of a version. The active one has them even before its first data; others must have been made. */
  async function databaseOf({ projectId, version, isActive }: Execution['scope']): Promise<string> {
    const name = versionDatabases(projectId, version).user
    if (known.has(name)) return name
    if (isActive) {
      await engine.command(`create database if not exists ${quoteIdentifier(name)}`)
    } else {
      const sql = 'select 1 from system.databases where name = {name:String}'
      const found = await engine.rows(sql, { parameters: { name } })
      if (found.length === 0) throw new ServiceError('not_found', `version ${version} has no data`)
    }
    known.add(name)
    return name
  }

  async function open(
    sql: string,
    format: string | null,
    { scope, parameters, limits, isLenient, isShort, signal, runId }: Execution,
    onRowsRead?: (rows: number) => void,
  ): Promise<Readable> {
    const database = await databaseOf(scope)
    const login = (await users?.loginOf(scope.projectId)) ?? null
    return engine.stream(sql, format, {
      database,
      parameters,
      signal,
      timeoutMs: limits.timeoutMs,
      ...(login === null ? {} : { login }),
      ...(onRowsRead && runId !== undefined
        ? { queryId: queryIdOf(scope.projectId, runId) + randomId(8), onRowsRead }
        : {}),
      settings: {
        ...OUTPUT,
        ...(login === null ? { ...SANDBOX, ...(isLenient ? { readonly: 2 } : {}) } : {}),
        max_memory_usage: limits.memoryBytesMax,
        max_rows_to_read: limits.rowsReadMax,
        ...(isShort ? SHORT : {}),
        ...(format === null ? WHOLE : {}),
        // Where the engine keeps the whole of it.
        ...(format === BINARY_FORMATS.parquet ? { max_result_bytes: limits.resultBytesMax } : {}),
      },
    })
  }

  async function run(sql: string, execution: Execution): Promise<RowStream> {
    let rowsRead: number | null = null
    const stream = await open(sql, 'JSONCompactEachRowWithNamesAndTypes', execution, (rows) => {
      rowsRead = rows
    })
    return { ...(await toRowStream(stream)), rowsRead }
  }

  async function canonical(sql: string): Promise<string> {
    // A literal, as a parameter stands in the address of the request, which is bounded.
    const query = `select formatQuerySingleLine(${quoteString(sql)}) as text`
    const [row] = await engine.rows<{ text: string }>(query, PARSING)
    return row?.text ?? ''
  }

  async function tree(wrapped: string, parameters: SqlParameters): Promise<readonly string[]> {
    return readText(await engine.stream(EXPLAIN + wrapped, null, { ...PARSING, parameters }))
  }

  return {
    canonical,
    parseWrapped: async (sql, parameters) => {
      const wrapped = `${WRAPPER}${sql}\n)`
      const [lines, text] = await Promise.all([
        inPlace(EXPLAIN.length + WRAPPER.length, () => tree(wrapped, parameters)),
        // Where this fails the tree fails too, and tells the place.
        canonical(wrapped).catch(() => ''),
      ])
      if (text === '') throw new ServiceError('unavailable', 'the statement could not be read; try again')
      return { tree: lines, canonical: text }
    },
    functions: async () => {
      const rows = await engine.rows<{
        name: string
        alias_to: string
        is_aggregate: number
        categories: string
      }>(`select name, alias_to, is_aggregate, categories from system.functions where origin = 'System'`)
      return rows.map((row) => ({
        name: row.name,
        aliasTo: row.alias_to,
        isAggregate: row.is_aggregate === 1,
        category: row.categories,
      }))
    },
    executeWrapped: (sql, execution) => inPlace(OPENING.length, () => run(enclose(sql), execution)),
    describeWrapped: (sql, execution) =>
      inPlace(DESCRIBE.length + OPENING.length, () => run(DESCRIBE + enclose(sql), execution)),
    execute: run,
    export: (sql, execution, format) =>
      inPlace(OPENING.length, () => open(enclose(sql), BINARY_FORMATS[format], execution)),
    resolve: (sql, execution) =>
      inPlace(EXPLAIN_RESOLVED.length + OPENING.length, async () => {
        const lines = await readText(await open(EXPLAIN_RESOLVED + enclose(sql), null, execution))
        const named = (pattern: RegExp): readonly string[] =>
          lines.map((line) => pattern.exec(line)?.[1]).filter((name) => name !== undefined)
        return {
          tables: named(/^\s*TABLE id: .*\btable_name: (.*)$/),
          functions: new Set(named(/^\s*FUNCTION id: .*\bfunction_name: (\w+)/)),
          tableFunctions: named(/^\s*TABLE_FUNCTION id: .*\btable_function_name: (\w+)/),
          database: await databaseOf(execution.scope),
        }
      }),
    progress: async (projectId, runId) => {
      const prefix = queryIdOf(projectId, runId)
      // The embedded engine takes no ids; there it stands in the statement's last line, which is not the caller's.
      const [found] = await engine.rows<{ read: string; total: string; elapsed: number }>(
        `select read_rows as read, total_rows_approx as total, elapsed from system.processes
         where startsWith(query_id, {prefix:String}) or match(query, {lastLine:String}) order by elapsed limit 1`,
        { parameters: { prefix, lastLine: `\\n/\\* ${prefix}\\w+ \\*/$` } },
      )
      if (!found) return null
      return {
        rowsRead: Number(found.read),
        rowsToRead: Number(found.total),
        elapsedMs: Math.round(found.elapsed * 1000),
      }
    },
    tables: async (scope) => {
      const database = await databaseOf(scope)
      const options = { parameters: { database } }
      const views = await engine.rows<{ name: string; source: string }>(
        'select name, as_select as source from system.tables where database = {database:String} order by name',
        options,
      )
      const columns = await engine.rows<{ table: string; name: string; type: string }>(
        'select table, name, type from system.columns where database = {database:String} order by table, position',
        options,
      )
      const byTable = Map.groupBy(columns, ({ table }) => table)
      return views.map(({ name, source }) => ({
        name,
        kind: kindOf(source),
        columns: (byTable.get(name) ?? []).map((column) => ({ name: column.name, type: column.type })),
      }))
    },
  }
}

/** How the ids of a run's statements begin. */
function queryIdOf(projectId: number, runId: string): string {
  return `millrace-${projectId}-${runId}-`
}

const BINARY_FORMATS: Readonly<Record<BinaryFormat, string>> = { arrow: 'ArrowStream', parquet: 'Parquet' }

/** What a view shows, by the table that it reads. */
function kindOf(source: string): EngineTable['kind'] {
  const table = /_facts`?\.`?(event_|entity_|points)/.exec(source)?.[1]
  if (table === 'entity_') return 'ENTITY'
  return table === 'points' ? 'METRICS' : 'EVENT'
}

/** The line break before the parenthesis ends a comment that the statement may end with. */
function enclose(sql: string): string {
  return `${OPENING}${sql}\n)`
}

/** Puts the positions of errors back to where they are in the caller's own text. */
async function inPlace<Result>(prefixLength: number, attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError(error.code, moveMessage(error.message, prefixLength), {
      cause: error.cause,
      details: error.details.map((detail) => moveDetail(detail, prefixLength)),
      ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    })
  }
}

function moveMessage(message: string, prefixLength: number): string {
  return message
    .replace(AT_END, 'failed at the end of the statement')
    .replace(END_EXPECTED, '$1$2$3')
    .replace(NEVER_CLOSED, 'failed at the end of the statement')
    .replace(/failed at position (\d+)/, (_, at: string) => `failed at position ${Number(at) - prefixLength}`)
    .replace(/\(line (\d+), col/, (_, line: string) => `(line ${Math.max(1, Number(line) - 1)}, col`)
    .replaceAll(/SELECT \* FROM \(\s*/gi, '')
    .replaceAll(/\n\)\n?(?=\.|\)|$)/g, '')
    .replace(/\.(\s*\.)+\s*$/, '.')
}

function moveDetail(detail: unknown, prefixLength: number): unknown {
  const place = detail as { engineCode?: string; position?: number; line?: number }
  if (place.position !== undefined && place.position <= prefixLength) return { engineCode: place.engineCode }
  return {
    ...place,
    ...(place.position === undefined ? {} : { position: place.position - prefixLength }),
    ...(place.line === undefined ? {} : { line: Math.max(1, place.line - 1) }),
  }
}

async function readText(stream: Readable): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const block of readLineBlocks(stream)) lines.push(...block.toString().trimEnd().split('\n'))
  return lines
}

async function toRowStream(stream: Readable): Promise<Omit<RowStream, 'rowsRead'>> {
  const blocks = readLineBlocks(stream)
  let head: Buffer = Buffer.alloc(0)
  let isOver = false
  while (!isOver && endOfHeader(head) < 0) {
    const next = await blocks.next()
    if (next.done) isOver = true
    else head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
  }
  const end = isOver ? head.length : endOfHeader(head)
  const [names = '[]', types = '[]'] = head.toString('utf8', 0, end).split('\n')
  const rest = head.subarray(end)
  return {
    names: JSON.parse(names) as string[],
    types: JSON.parse(types) as string[],
    blocks: (async function* () {
      try {
        if (rest.length > 0) yield rest
        yield* blocks
      } finally {
        stream.destroy()
      }
    })(),
  }
}

/** The names and types take a line each; -1 while they are not whole. */
function endOfHeader(head: Buffer): number {
  const namesEnd = head.indexOf(NEWLINE)
  const typesEnd = namesEnd < 0 ? -1 : head.indexOf(NEWLINE, namesEnd + 1)
  return typesEnd < 0 ? -1 : typesEnd + 1
}
