import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** A stream of bytes in blocks of whole lines, as they come; the last line may lack its end. */
export async function* readLineBlocks(stream: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      const lines = end === chunk.length ? chunk : chunk.subarray(0, end)
      yield held.length === 0 ? lines : Buffer.concat([...held, lines])
      held = []
    }
    if (end < chunk.length) held.push(chunk.subarray(end))
  }
  if (held.length > 0) yield Buffer.concat(held)
}
