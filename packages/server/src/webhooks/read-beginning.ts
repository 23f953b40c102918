import type { Readable } from 'node:stream'

/** Bytes of an answer that the attempt log keeps. */
const KEPT_BYTES = 1024
/** Bytes that are read so that the connection can be used again; a longer answer costs its connection. */
const READ_BYTES = 16 * 1024
/** Milliseconds for a body; the status has been decided by then. */
const READ_MS = 1000

/** The first bytes of an answer. Whatever the body does, it is let go after a bound of bytes and time (DL-2). */
export async function readBeginning(body: Readable): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  // An error after the status concerns nobody; without a listener it would end the process.
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), READ_MS)
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      if (bytes < KEPT_BYTES) parts.push(part.subarray(0, KEPT_BYTES - bytes))
      bytes += part.byteLength
      if (bytes > READ_BYTES) break
    }
  } catch {
    // As above: what arrived until then is what is kept.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  return Buffer.concat(parts)
}
