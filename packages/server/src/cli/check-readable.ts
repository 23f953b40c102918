import { open } from 'node:fs/promises'
import { UsageError } from './usage-error.ts'

/** Throws `UsageError` with why a file that was named cannot be read; `name` is what it was named by. */
export async function checkReadable(name: string, path: string): Promise<void> {
  const reason = await open(path).then(
    async (file) => {
      const isFile = (await file.stat()).isFile()
      await file.close()
      return isFile ? null : 'it is no file'
    },
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'there is no such file' : error.message),
  )
  if (reason !== null) throw new UsageError(`${name} ${path} cannot be read: ${reason}`)
}
