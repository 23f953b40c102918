/** Whole results of SQL statements, kept for their later pages, and the secret that signs cursors. */
export interface AnalyticsTables {
  sql_result: {
    id: string
    project_id: number
    /** JSON: the columns with their wire types. */
    columns: string
    /** Null while its rows are still being written. */
    row_count: number | null
    generated_at: number
    used_at: number
    /** JSON: code and message of what ended it before its last row. */
    failure: string | null
    /** When its writer last told that it lives. */
    written_at: number | null
  }
  sql_result_chunk: {
    result_id: string
    project_id: number
    first_row: number
    row_count: number
    body_bytes: number
    /** Rows as JSON text, each with a comma and a line break behind it, compressed with zstd. */
    body: Uint8Array
  }
  /** Saved queries; those without a name were made by an asynchronous execution. */
  sql_query: {
    id: string
    project_id: number
    name: string | null
    sql: string
    /** JSON. */
    parameters: string
    page_size: number | null
    saved_at: number
  }
  sql_execution: {
    id: string
    project_id: number
    query_id: string
    version: number
    status: 'PENDING' | 'RUNNING' | 'FINISHED' | 'KILLED'
    page_size: number
    /** The instance that runs it. */
    owner: string
    /** Tells whether a repeated idempotency key comes with the same request. */
    request_hash: string
    idempotency_key: string | null
    result_id: string
    error: string | null
    is_cancel_wanted: number
    scheduled_at: number
    started_at: number | null
    finished_at: number | null
    /** When its owner last told that it lives. */
    beat_at: number
  }
  secret: {
    name: string
    value: Uint8Array
  }
}
