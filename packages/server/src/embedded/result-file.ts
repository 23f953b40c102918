import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { quoteLiteral } from './engine-settings.ts'

const CHUNK_BYTES = 1_000_000
/** Formats that end with a directory of all that came before, so that chunks cannot become one. */
const WHOLE = /^(Parquet|ORC|Arrow)$/
const SELECTING = /^\s*(select\b|\()/i

/**
 * Has the engine write a result into a file, group of rows by group of rows, and gives the file's bytes: the library would put such a format together
 * in memory. One file a thread, which lives as long as the statement. Null where the format or the statement is another.
 */
export function fileResult(
  directory: string,
  { sql, format }: { readonly sql: string; readonly format: string },
  run: (clause: string) => Promise<unknown>,
): AsyncGenerator<Uint8Array> | null {
  return WHOLE.test(format) && SELECTING.test(sql) ? writeAndRead(directory, format, run) : null
}

async function* writeAndRead(
  directory: string,
  format: string,
  run: (clause: string) => Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  const folder = join(directory, 'millrace_rows')
  const path = join(folder, `${threadId}.result`)
  await mkdir(folder, { recursive: true })
  try {
    await run(`into outfile ${quoteLiteral(path)} truncate format ${format}`)
    const file = await open(path)
    try {
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES))
        if (bytesRead === 0) break
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  } finally {
    await rm(path, { force: true })
  }
}
