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
    chunks: decode(plain),
    progress: () => (size === 0 ? 1 : bytesRead / size),
  }
}

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
