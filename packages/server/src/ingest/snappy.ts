/** Bytes that are no snappy block. */
export class SnappyFault extends Error {
  override readonly name = 'SnappyFault'
}

/** Decompresses one block of snappy's raw format. Throws SnappyFault, also when it says to be larger than `maxBytes`. */
export function decompressSnappy(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const [length, start] = readLength(bytes)
  if (length > maxBytes)
    throw new SnappyFault(`${length} bytes decompressed; at most ${maxBytes} are allowed`)
  const output = Buffer.alloc(length)
  let written = 0
  let at = start
  while (at < bytes.length) {
    const tag = byteAt(bytes, at++)
    if ((tag & 3) === 0) {
      let size = (tag >> 2) + 1
      if (size > 60) {
        const width = size - 60
        size = littleEndian(bytes, at, width) + 1
        at += width
      }
      if (at + size > bytes.length || written + size > length) throw malformed()
      output.set(bytes.subarray(at, at + size), written)
      at += size
      written += size
      continue
    }
    const kind = tag & 3
    const size = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const offset =
      kind === 1 ? ((tag >> 5) << 8) | byteAt(bytes, at) : littleEndian(bytes, at, kind === 2 ? 2 : 4)
    at += kind === 1 ? 1 : kind === 2 ? 2 : 4
    if (offset === 0 || offset > written || written + size > length) throw malformed()
    // A copy may read what it writes, so it goes byte by byte unless it does not overlap.
    if (offset >= size) output.copyWithin(written, written - offset, written - offset + size)
    else for (let i = 0; i < size; i++) output[written + i] = output[written + i - offset] ?? 0
    written += size
  }
  if (written !== length) throw malformed()
  return output
}

function readLength(bytes: Uint8Array): readonly [number, number] {
  let value = 0
  for (let i = 0; i < 5; i++) {
    const byte = byteAt(bytes, i)
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return [value, i + 1]
  }
  throw malformed()
}

function littleEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0
  for (let i = 0; i < width; i++) value += byteAt(bytes, at + i) * 256 ** i
  return value
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw malformed()
  return byte
}

function malformed(): SnappyFault {
  return new SnappyFault('the block is malformed')
}
