import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { asBuffer } from '../platform/as-buffer.ts'

/** The end of a statement; its settings stand behind the name of a file. */
const BINARY_INSERT = /\s+((?:settings [\w =',-]+ )?format\s+(?:Native|RowBinary))\s*$/i

/** What the library takes for the end of rows that stand behind a statement (measured with chdb 3.4.0). */
const END_OF_ROWS = '\n\n'

/**
 * Runs an INSERT whose rows cannot stand behind the statement, as they hold what ends them there, which text formats never do and binary ones may:
 * they are read from a file, one a thread, that lives as long as the statement. Null for all others: small batches mostly, which cost a fifth less
 * without a file.
 */
export async function insertFromFile<Result>(
  directory: string,
  sql: string,
  rows: Uint8Array,
  run: (sql: string) => Promise<Result>,
): Promise<Result | null> {
  const format = BINARY_INSERT.exec(sql)
  if (!format || !asBuffer(rows).includes(END_OF_ROWS)) return null
  const folder = join(directory, 'millrace_rows')
  const path = join(folder, `${threadId}.rows`)
  // Not in the background: the thread has nothing else to do, and each step aside waits for a processor.
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, rows)
  try {
    return await run(`${sql.slice(0, format.index)} from infile ${quotePath(path)} ${format[1]}`)
  } finally {
    unlinkSync(path)
  }
}

function quotePath(path: string): string {
  return `'${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
