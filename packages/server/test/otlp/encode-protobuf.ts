/** A field of a protobuf message, for tests: number and content. */
export type Field = Uint8Array

function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Uint8Array.from([...bytes, Number(rest)])
}

const tag = (number: number, wire: number) => varint(BigInt((number << 3) | wire))

/** An integer: `int64`, `uint32`, `bool` … */
export function integer(number: number, value: number | bigint): Field {
  return Buffer.concat([tag(number, 0), varint(BigInt(value))])
}

/** A signed integer in zigzag form, `sint32`. */
export function zigzag(number: number, value: number): Field {
  return integer(number, value < 0 ? -value * 2 - 1 : value * 2)
}

/** Eight bytes, `fixed64` or `sfixed64`. */
export function fixed(number: number, value: number | bigint): Field {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)))
  return Buffer.concat([tag(number, 1), bytes])
}

/** A `double`. */
export function double(number: number, value: number): Field {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return Buffer.concat([tag(number, 1), bytes])
}

/** A text, bytes, or a message given as its fields. */
export function sized(number: number, content: string | Uint8Array | readonly Field[]): Field {
  const bytes =
    typeof content === 'string'
      ? Buffer.from(content)
      : content instanceof Uint8Array
        ? content
        : Buffer.concat(content)
  return Buffer.concat([tag(number, 2), varint(BigInt(bytes.length)), bytes])
}

/** A packed list of doubles or of eight-byte integers. */
export function packed(number: number, values: readonly (number | bigint)[]): Field {
  const elements = values.map((value) =>
    typeof value === 'bigint' ? fixed(1, value).subarray(1) : double(1, value).subarray(1),
  )
  return sized(number, Buffer.concat(elements))
}
