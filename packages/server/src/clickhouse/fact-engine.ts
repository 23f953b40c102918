import type { Readable } from 'node:stream'

/** A user of the engine. */
export interface FactLogin {
  readonly username: string
  readonly password: string
}

/** How one statement is run. */
export interface StatementOptions {
  /** Database that unqualified names refer to. */
  readonly database?: string
  /** Values of `{name:Type}` placeholders, bound by the engine. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Engine settings of this statement alone. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Stops the statement in the engine when aborted. */
  readonly signal?: AbortSignal
  /** The engine stops the statement after this time; one minute when absent. */
  readonly timeoutMs?: number
  /** The name under which the engine lists the statement while it runs. It must begin with `millrace-`. */
  readonly queryId?: string
  /** The user in whose name it runs; the service's own when absent. */
  readonly login?: FactLogin
  /** Called before the first bytes with the number of rows that the statement has read so far; of a small result, all it has read. Needs `queryId`. */
  onRowsRead?(rows: number): void
}

/** Rows to insert: the bytes of `format`, and a token under which a repeated insert of the same bytes changes nothing. */
export interface Insert {
  readonly database: string
  readonly table: string
  readonly columns?: readonly string[]
  readonly format: 'JSONEachRow' | 'JSONCompactEachRow' | 'RowBinary' | 'Native'
  readonly rows: Uint8Array
  readonly deduplicationToken?: string
}

/**
 * The engine of facts, embedded chDB or a ClickHouse server, over ClickHouse's HTTP interface.
 * Every method throws `ServiceError`: `unavailable` while the engine is down or restarting,
 * `deadline_exceeded`, `resource_exhausted`, `cancelled`, or `invalid_argument` with the engine's own
 * message for a statement that it refuses.
 */
export interface FactEngine {
  /** All rows of a small result as objects. 64-bit and larger integers and decimals are strings. */
  rows<Row>(sql: string, options?: StatementOptions): Promise<Row[]>
  /**
   * The bytes of a result as the engine produces them in `format`; null adds no FORMAT clause, which leaves
   * tab-separated rows (a clause would belong to the statement that an EXPLAIN AST explains). The stream fails with a `ServiceError` when the
   * statement fails on its way; destroying it stops the statement. Its last byte means that the result is whole.
   */
  stream(sql: string, format: string | null, options?: StatementOptions): Promise<Readable>
  /** Runs a statement without a result. */
  command(sql: string, options?: StatementOptions): Promise<void>
  insert(insert: Insert, options?: Pick<StatementOptions, 'signal' | 'timeoutMs'>): Promise<void>
  /** Resolves when the engine answers; throws `unavailable` otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}
