import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

/** The end of a statement; its settings stand behind the name of a file. */
const BINARY_INSERT = /\s+((?:settings [\w =',-]+ )?format\s+(?:Native|RowBinary))\s*$/i

/**
 * Runs an INSERT whose rows are binary. The library takes two line feeds for the end of rows that stand behind a statement, which text
 * formats never hold and binary ones do (measured with chdb 3.4.0): those are read from a file, one a thread, that lives as long as the statement.
 * Null where the statement's format is a text.
 */
export async function insertFromFile<Result>(
  directory: string,
  sql: string,
  rows: Uint8Array,
  run: (sql: string) => Promise<Result>,
): Promise<Result | null> {
  const format = BINARY_INSERT.exec(sql)
  if (!format) return null
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
