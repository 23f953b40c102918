import { Transform } from 'node:stream'
import { parseException, translateError, translateException } from './translate-error.ts'

/**
 * Passes a result on and fails where the engine broke it off. Since 25.11 an error behind the first byte comes as
 * `\r\n__exception__\r\n<tag>\r\n<message>\n<length> <tag>\r\n__exception__\r\n` with the tag in a header, so that no
 * result can hold it by chance. The bytes that could begin a frame are held back until the next chunk.
 */
export function createExceptionFrame(tag: string): Transform {
  const opening = Buffer.from(`\r\n__exception__\r\n${tag}\r\n`)
  const closing = Buffer.from(` ${tag}\r\n__exception__\r\n`)
  const kept = opening.length - 1
  let held: Buffer = Buffer.alloc(0)
  let frame: Buffer | null = null

  function opensIn(chunk: Buffer): boolean {
    return chunk.includes(opening) || Buffer.concat([held, chunk.subarray(0, kept)]).includes(opening)
  }

  function look(out: Transform, bytes: Buffer): void {
    const place = bytes.indexOf(opening)
    const passed = place >= 0 ? place : Math.max(0, bytes.length - kept)
    if (passed > 0) out.push(bytes.subarray(0, passed))
    if (place >= 0) frame = bytes.subarray(place + opening.length)
    held = place >= 0 ? Buffer.alloc(0) : bytes.subarray(passed)
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      if (frame) frame = Buffer.concat([frame, chunk])
      else if (chunk.length < opening.length || opensIn(chunk)) look(this, Buffer.concat([held, chunk]))
      else {
        // The usual case: large chunks pass without being copied.
        if (held.length > 0) this.push(held)
        this.push(chunk.subarray(0, chunk.length - kept))
        held = Buffer.from(chunk.subarray(chunk.length - kept))
      }
      // The engine closes the connection behind the frame instead of ending the body; waiting for that would lose the reason.
      const end = frame?.indexOf(closing) ?? -1
      callback(frame && end >= 0 ? toError(frame.subarray(0, end)) : null)
    },
    flush(callback) {
      if (frame) {
        callback(toError(frame))
        return
      }
      callback(null, held)
    },
  })
}

function toError(frame: Buffer): Error {
  const text = frame.toString().replace(/\n\d+$/, '')
  const exception = parseException(text)
  return exception ? translateException(exception) : translateError(new Error(text))
}
