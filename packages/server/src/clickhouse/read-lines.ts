import type { Readable } from 'node:stream'

const NEWLINE = 0x0a

/** The lines of a stream of bytes, without their ends, in batches as they come. */
export async function* readLines(stream: Readable): AsyncGenerator<readonly Uint8Array[]> {
  let held: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines: Uint8Array[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = chunk.subarray(start, end)
      lines.push(held.length === 0 ? line : Buffer.concat([...held, line]))
      held = []
      start = end + 1
    }
    if (start < chunk.length) held.push(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (held.length > 0) yield [Buffer.concat(held)]
}
