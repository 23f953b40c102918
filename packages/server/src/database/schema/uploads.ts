/** Files of uploaded processors. */
export interface UploadTables {
  processor_file: {
    /** SHA-256 of the token it is presented with. */
    token_hash: Uint8Array
    project_id: number
    part: 'bundle' | 'source'
    /** Null until the upload is finished. */
    version: number | null
    /** JSON of what came with the upload; null until it is finished. */
    details: string | null
    /** Null until the file has come. */
    body: Uint8Array | null
    expected_at: number
  }
}
