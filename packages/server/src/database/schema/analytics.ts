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
  }
  sql_result_chunk: {
    result_id: string
    project_id: number
    first_row: number
    row_count: number
    body_bytes: number
    /** Rows as JSON text, one a line, compressed with zstd. */
    body: Uint8Array
  }
  secret: {
    name: string
    value: Uint8Array
  }
}
