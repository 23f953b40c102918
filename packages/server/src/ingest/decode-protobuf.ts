/** How a field of a protobuf message is read. A message type names its fields by number; 64-bit integers become bigints. */
export type ProtobufType =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'uint32'
  | 'int32'
  | 'sint32'
  | 'int64'
  | 'fixed64'
  | 'sfixed64'
  | 'double'
  | 'repeated-double'
  | 'repeated-fixed64'
  | 'repeated-uint64'

/** A message type; a function, so that types may refer to one another. A repeated one has `isRepeated`. */
export interface ProtobufMessage {
  readonly message: () => ProtobufFields
  readonly isRepeated?: true
}

/** The fields of a message: number, name, type. Fields that are not listed are skipped. */
export type ProtobufFields = Readonly<Record<number, readonly [string, ProtobufType | ProtobufMessage]>>

/** Bytes that are no message of the expected type. */
export class ProtobufFault extends Error {
  override readonly name = 'ProtobufFault'
}

type Decoded = Record<string, unknown>

/** Nested messages and groups of them stop here; honest ones of our schemas have a few levels. */
const MAX_DEPTH = 64

/**
 * Decodes a message of the protobuf wire format into an object that has the fields that were sent. Packed and unpacked
 * lists of numbers are both read. Throws ProtobufFault.
 */
export function decodeProtobuf(fields: ProtobufFields, bytes: Uint8Array): Decoded {
  return decodeMessage(fields, bytes, 0)
}

function decodeMessage(fields: ProtobufFields, bytes: Uint8Array, depth: number): Decoded {
  if (depth > MAX_DEPTH) throw new ProtobufFault(`messages are nested more than ${MAX_DEPTH} deep`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const decoded: Decoded = {}
  let at = 0
  while (at < bytes.length) {
    const [tag, next] = readVarint(bytes, at)
    const field = fields[Number(tag >> 3n)]
    const wire = Number(tag & 7n)
    const end = endOfField(bytes, next, wire)
    if (field) {
      const [name, type] = field
      const start = wire === 2 ? readVarint(bytes, next)[1] : next
      readField(decoded, name, type, { bytes, view, start, end, wire, depth })
    }
    at = end
  }
  return decoded
}

interface Span {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly start: number
  readonly end: number
  readonly wire: number
  readonly depth: number
}

function readField(decoded: Decoded, name: string, type: ProtobufType | ProtobufMessage, span: Span): void {
  const { bytes, start, end, wire, depth } = span
  if (typeof type === 'object') {
    if (wire !== 2) throw wrongWire(name)
    const value = decodeMessage(type.message(), bytes.subarray(start, end), depth + 1)
    if (type.isRepeated) append(decoded, name, [value])
    else decoded[name] = value
    return
  }
  if (type.startsWith('repeated-')) {
    append(decoded, name, readNumbers(type.slice('repeated-'.length) as ElementType, name, span))
    return
  }
  decoded[name] = readScalar(type, name, span)
}

type ElementType = 'double' | 'fixed64' | 'uint64'

/** A list of numbers, packed into one field or one of its elements. */
function readNumbers(element: ElementType, name: string, { bytes, view, start, end, wire }: Span): unknown[] {
  const isFixed = element !== 'uint64'
  if (wire !== 2 && wire !== (isFixed ? 1 : 0)) throw wrongWire(name)
  const numbers: unknown[] = []
  let at = start
  while (at < end) {
    if (isFixed) {
      if (at + 8 > end) throw cutOff()
      numbers.push(element === 'double' ? view.getFloat64(at, true) : view.getBigUint64(at, true))
      at += 8
    } else {
      const [value, next] = readVarint(bytes, at)
      numbers.push(value)
      at = next
    }
  }
  return numbers
}

function readScalar(type: ProtobufType, name: string, { bytes, view, start, end, wire }: Span): unknown {
  const expected = type === 'string' || type === 'bytes' ? 2 : /fixed64|double/.test(type) ? 1 : 0
  if (wire !== expected) throw wrongWire(name)
  switch (type) {
    case 'string':
      return readText(bytes.subarray(start, end), name)
    case 'bytes':
      return bytes.subarray(start, end)
    case 'double':
      return view.getFloat64(start, true)
    case 'fixed64':
      return view.getBigUint64(start, true)
    case 'sfixed64':
      return view.getBigInt64(start, true)
    default: {
      const [value] = readVarint(bytes, start)
      if (type === 'bool') return value !== 0n
      if (type === 'int64') return BigInt.asIntN(64, value)
      if (type === 'uint32') return Number(BigInt.asUintN(32, value))
      if (type === 'int32') return Number(BigInt.asIntN(32, value))
      return Number(BigInt.asIntN(32, (value >> 1n) ^ -(value & 1n)))
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readText(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ProtobufFault(`${name} is not UTF-8`)
  }
}

function append(decoded: Decoded, name: string, values: readonly unknown[]): void {
  const list = decoded[name] as unknown[] | undefined
  if (list) for (const value of values) list.push(value)
  else decoded[name] = [...values]
}

/** Where the field whose content begins at `at` ends. */
function endOfField(bytes: Uint8Array, at: number, wire: number): number {
  let end = at
  if (wire === 0) end = readVarint(bytes, at)[1]
  else if (wire === 1) end = at + 8
  else if (wire === 5) end = at + 4
  else if (wire === 2) {
    const [length, start] = readVarint(bytes, at)
    end = start + Number(length)
  } else throw new ProtobufFault(`wire type ${wire} is none of a message`)
  if (end > bytes.length) throw cutOff()
  return end
}

/** A variable-length integer and the position behind it. */
function readVarint(bytes: Uint8Array, at: number): readonly [bigint, number] {
  const first = bytes[at]
  if (first !== undefined && first < 0x80) return [BigInt(first), at + 1]
  let value = 0n
  for (let i = 0; i < 10; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) throw cutOff()
    value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) return [BigInt.asUintN(64, value), at + i + 1]
  }
  throw new ProtobufFault('an integer has more than 10 bytes')
}

function cutOff(): ProtobufFault {
  return new ProtobufFault('the message is cut off')
}

function wrongWire(name: string): ProtobufFault {
  return new ProtobufFault(`${name} has another type`)
}
