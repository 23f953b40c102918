import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

const BINARY_INSERT = /\s+(format\s+(?:Native|RowBinary))\s*$/i

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
  await mkdir(folder, { recursive: true })
  await writeFile(path, rows)
  try {
    return await run(`${sql.slice(0, format.index)} from infile ${quotePath(path)} ${format[1]}`)
  } finally {
    await rm(path, { force: true })
  }
}

function quotePath(path: string): string {
  return `'${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
