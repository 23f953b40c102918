import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface WrittenSummary {
  readonly rowsWritten: number
  readonly bytesWritten: number
}

interface NativeChdb {
  InsertRawAsyncConnection(
    connection: unknown,
    statement: string,
    rows: Uint8Array,
    countLines: boolean,
  ): Promise<WrittenSummary>
}

const require = createRequire(import.meta.url)
let native: NativeChdb | undefined

/**
 * Inserts bytes without turning them into a string; for binary ones that need a file see `insertFromFile`. The package's own
 * `insert` takes plain table names only; the addon beneath takes any statement (measured with chdb 3.4.0, which is pinned for this reason).
 */
export function insertBytes(
  connection: unknown,
  statement: string,
  rows: Uint8Array,
): Promise<WrittenSummary> {
  native ??= (
    require(join(dirname(require.resolve('chdb')), 'dist/loader.js')) as { loadNative(): NativeChdb }
  ).loadNative()
  return native.InsertRawAsyncConnection(connection, statement, rows, false)
}
