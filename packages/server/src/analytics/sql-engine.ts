/** Whose data a statement reads: the views of one processor version. */
export interface SqlScope {
  readonly projectId: number
  readonly version: number
  /** Is it the one that the project reads by default? */
  readonly isActive: boolean
}

/** Values of `{name:Type}` placeholders as the engine binds them. */
export type SqlParameters = Readonly<Record<string, unknown>>

/** A statement as the engine's own parser understands it. */
export interface ParsedStatement {
  /** The lines of `EXPLAIN AST`, one node each, indented by depth. */
  readonly tree: readonly string[]
  /** The statement as the engine itself would write it, on one line, without comments. */
  readonly canonical: string
}

/** A function that the engine knows. */
export interface EngineFunction {
  readonly name: string
  /** The function that an alias stands for; empty for others. */
  readonly aliasTo: string
  readonly isAggregate: boolean
  /** The chapter of the manual; empty for most aliases. */
  readonly category: string
}

/** Bounds of one execution (SQ-7). */
export interface ExecutionLimits {
  readonly timeoutMs: number
  readonly memoryBytesMax: number
  readonly rowsReadMax: number
  /** Of the whole result. */
  readonly resultBytesMax: number
}

/** Rows on their way: names and types of the columns as the engine gives them, then JSON arrays, one line a row, in blocks of whole lines. */
export interface RowStream {
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly blocks: AsyncIterable<Buffer>
  /** Rows of tables that had been read before the first of these came; null where nobody asked, or the engine did not tell. */
  readonly rowsRead: number | null
}

/** How far a running statement is. */
export interface RunProgress {
  readonly rowsRead: number
  /** The engine's estimate, of what it has begun to read; 0 where it has none. */
  readonly rowsToRead: number
  readonly elapsedMs: number
}

/** What the SQL API needs of the fact engine. Every method throws `ServiceError` (ER-4). */
export interface SqlEngine {
  /** Parses `select * from (⏎…⏎)` around a statement, and runs nothing. Positions in errors are those of the statement. */
  parseWrapped(sql: string, parameters: SqlParameters): Promise<ParsedStatement>
  /** Writes a statement as the engine itself would. */
  canonical(sql: string): Promise<string>
  /** Every built-in function; not those that users or operators have defined. */
  functions(): Promise<readonly EngineFunction[]>
  /** Runs `(⏎…⏎)` around a statement that was admitted. */
  executeWrapped(sql: string, run: Execution): Promise<RowStream>
  /** The columns that `executeWrapped` would give. */
  describeWrapped(sql: string, run: Execution): Promise<RowStream>
  /** Runs an admitted statement as it is. */
  execute(sql: string, run: Execution): Promise<RowStream>
  /** Runs a wrapped statement and gives the bytes of one of the engine's own formats. */
  export(sql: string, run: Execution, format: BinaryFormat): Promise<AsyncIterable<Uint8Array>>
  /** What the tables and table functions of a wrapped statement are to the engine; computes its scalar sub-queries. */
  resolve(sql: string, run: Execution): Promise<ResolvedStatement>
  /** How far the run of that name is; null when none is under way. */
  progress(projectId: number, runId: string): Promise<RunProgress | null>
  /** The tables that a version's statements see. */
  tables(scope: SqlScope): Promise<readonly EngineTable[]>
}

/** A statement after the engine has looked up its names. */
export interface ResolvedStatement {
  /** With their databases. */
  readonly tables: readonly string[]
  readonly tableFunctions: readonly string[]
  readonly functions: ReadonlySet<string>
  /** The database of the version that it runs in. */
  readonly database: string
}

/** Formats whose bytes the engine itself writes. */
export type BinaryFormat = 'arrow' | 'parquet'

/** A table, and its columns in order. */
export interface EngineTable {
  readonly name: string
  readonly kind: 'EVENT' | 'METRICS' | 'ENTITY'
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/** One run of a statement. */
export interface Execution {
  readonly scope: SqlScope
  readonly parameters: SqlParameters
  readonly limits: ExecutionLimits
  /** The strictest mode, which also forbids temporary tables, refuses an EXPLAIN inside the wrapper and some table functions. */
  readonly isLenient: boolean
  /** Are few rows waited for? Absent: perhaps many. */
  readonly isShort?: boolean
  readonly signal: AbortSignal
  /** The name under which its progress may be asked for; its rows are then counted. */
  readonly runId?: string
}
