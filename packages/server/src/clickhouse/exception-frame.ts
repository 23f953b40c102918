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
  let held: Buffer = Buffer.alloc(0)
  let frame: Buffer | null = null
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      if (frame) {
        frame = Buffer.concat([frame, chunk])
      } else {
        const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
        const place = bytes.indexOf(opening)
        if (place >= 0) {
          if (place > 0) this.push(bytes.subarray(0, place))
          frame = bytes.subarray(place + opening.length)
          held = Buffer.alloc(0)
        } else {
          const kept = Math.min(bytes.length, opening.length - 1)
          if (bytes.length > kept) this.push(bytes.subarray(0, bytes.length - kept))
          held = bytes.subarray(bytes.length - kept)
        }
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
