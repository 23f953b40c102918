/** Is this the media type of a message in protobuf? */
export function isProtobuf(contentType: string | undefined): boolean {
  return /^\s*application\/(x-|vnd\.google\.)?protobuf\s*(;|$)/i.test(contentType ?? '')
}

/** A field of a protobuf message that is a natural number. */
export function protobufNumber(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)])
}

/** A field of a protobuf message that is a text or another message. */
export function protobufText(field: number, content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
