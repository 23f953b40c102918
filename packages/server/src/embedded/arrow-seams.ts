import { asBuffer } from '../platform/as-buffer.ts'

const CONTINUATION = -1
const PREFIX_BYTES = 8
const SCHEMA = 1
/** Where a message's table of fields says at which place each field is. */
const KIND_FIELD = 6
const BODY_LENGTH_FIELD = 10

/** The last bytes of an Arrow stream. */
export const ARROW_END = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])

/**
 * The record batches of a chunk that is a whole Arrow stream of its own: without its end, and without its schema unless
 * it is the first. Streams are made of messages: a marker, the length of what describes the message (a flat buffer with
 * its kind and the length of its body), the description, the body.
 */
export function takeArrowMessages(chunk: Uint8Array, isFirst: boolean): Uint8Array {
  const bytes = asBuffer(chunk)
  let start = 0
  let at = 0
  while (at + PREFIX_BYTES <= bytes.length) {
    if (bytes.readInt32LE(at) !== CONTINUATION) throw new Error('a chunk of the engine is no Arrow stream')
    const described = bytes.readInt32LE(at + 4)
    if (described === 0) break
    const table = at + PREFIX_BYTES + bytes.readInt32LE(at + PREFIX_BYTES)
    const fields = table - bytes.readInt32LE(table)
    // A description without a body may leave the field out.
    const hasBody = bytes.readUInt16LE(fields) > BODY_LENGTH_FIELD
    const bodyField = hasBody ? bytes.readUInt16LE(fields + BODY_LENGTH_FIELD) : 0
    const bodyBytes = bodyField === 0 ? 0 : Number(bytes.readBigInt64LE(table + bodyField))
    const isSchema = bytes.readUInt8(table + bytes.readUInt16LE(fields + KIND_FIELD)) === SCHEMA
    at += PREFIX_BYTES + described + bodyBytes
    if (isSchema && !isFirst) start = at
  }
  return bytes.subarray(start, at)
}
