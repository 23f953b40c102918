import { createReadStream, statSync } from 'node:fs'
import { createGunzip } from 'node:zlib'

/** The text of a file, also of one whose name ends in `.gz`, in pieces; `progress` counts its bytes on disk. */
export function openText(path: string): { readonly chunks: AsyncIterable<string>; progress(): number } {
  const { size } = statSync(path)
  const file = createReadStream(path, { highWaterMark: 1 << 20 })
  let bytesRead = 0
  file.on('data', (chunk) => (bytesRead += chunk.length))
  const plain = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  if (plain !== file) file.on('error', (error) => plain.destroy(error))
  return {
    chunks: decode(plain, path),
    progress: () => (size === 0 ? 1 : bytesRead / size),
  }
}

async function* decode(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let at = 0
  try {
    for await (const chunk of bytes) {
      yield decoder.decode(chunk, { stream: true })
      at += chunk.length
    }
    yield decoder.decode()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw new Error(`${path} is not UTF-8: there are other bytes behind byte ${at}`, { cause: error })
    }
    if (code.startsWith('Z_')) throw new Error(`${path} is no whole gzip file`, { cause: error })
    throw error
  }
}
