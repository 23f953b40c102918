import { Transform } from 'node:stream'
import { parseException, translateError, translateException } from './translate-error.ts'

const CARRIAGE_RETURN = 0x0d
const NOTHING = Buffer.alloc(0)

/**
 * Passes a result on and fails where the engine broke it off. Since 25.11 an error behind the first byte comes as
 * `\r\n__exception__\r\n<tag>\r\n<message>\n<length> <tag>\r\n__exception__\r\n` with the tag in a header, so that no
 * result can hold it by chance. Bytes that begin a frame perhaps are held back until the next chunk, and no others: it may be long in coming.
 */
export function createExceptionFrame(tag: string): Transform {
  const opening = Buffer.from(`\r\n__exception__\r\n${tag}\r\n`)
  const closing = Buffer.from(` ${tag}\r\n__exception__\r\n`)
  let held: Buffer = NOTHING
  let frame: Buffer | null = null

  /** Where the bytes end with a part of the opening; their length where they do not. */
  function startOfPart(bytes: Buffer): number {
    for (let from = Math.max(0, bytes.length - opening.length + 1); ; from++) {
      from = bytes.indexOf(CARRIAGE_RETURN, from)
      if (from < 0) return bytes.length
      if (bytes.compare(opening, 0, bytes.length - from, from) === 0) return from
    }
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      if (frame) frame = Buffer.concat([frame, chunk])
      else {
        const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
        const place = bytes.indexOf(opening)
        const end = place < 0 ? startOfPart(bytes) : place
        if (end > 0) this.push(bytes.subarray(0, end))
        held = place < 0 ? bytes.subarray(end) : NOTHING
        if (place >= 0) frame = bytes.subarray(place + opening.length)
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
