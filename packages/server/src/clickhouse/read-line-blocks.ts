import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** A stream of bytes in blocks of whole lines, as they come; the last line may lack its end. */
export async function* readLineBlocks(stream: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    let start = 0
    if (end > 0 && held.length > 0) {
      // The line that began in earlier chunks; the others need not be copied.
      start = chunk.indexOf(NEWLINE) + 1
      yield Buffer.concat([...held, chunk.subarray(0, start)])
      held = []
    }
    if (start < end) yield chunk.subarray(start, end)
    if (end < chunk.length) held.push(chunk.subarray(end))
  }
  if (held.length > 0) yield Buffer.concat(held)
}
