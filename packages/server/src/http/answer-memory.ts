/** Room for an answer that is sent as soon as it is written, with what its last number may overwrite behind it. */
const PIECE_BYTES = 256 * 1024
/** Longer pieces are a multiple of this: another answer of about as many bytes fits. */
const LONG_PIECE_UNIT = 2 ** 20
/** Longer ones are not lent again. */
const LENT_BYTES_MAX = 8 * 2 ** 20
/** As much as is likely to be written at a time: a few short answers, and a few long ones. */
const FREE_BYTES_MAX = 17 * 2 ** 20
const FREE_MAX = 8

/** Ascending by length. */
const free: Buffer<ArrayBuffer>[] = []
let freeBytes = 0
const lent = new WeakSet<ArrayBufferLike>()

/**
 * Memory to write an answer in: at least `bytesMin`. New memory for every answer is looked for by the garbage collector with a run over the
 * whole heap every 64 MiB, which takes as long as dozens of short answers; so pieces that are given back are lent again.
 */
export function takeAnswerMemory(bytesMin = 0): Buffer<ArrayBuffer> {
  if (bytesMin > LENT_BYTES_MAX) return Buffer.allocUnsafeSlow(bytesMin)
  const place = free.findIndex(({ byteLength }) => byteLength >= bytesMin)
  const [known] = place < 0 ? [] : free.splice(place, 1)
  if (known) freeBytes -= known.byteLength
  const piece = known ?? Buffer.allocUnsafeSlow(pieceBytes(bytesMin))
  lent.add(piece.buffer)
  return piece
}

function pieceBytes(bytesMin: number): number {
  return bytesMin <= PIECE_BYTES ? PIECE_BYTES : Math.ceil(bytesMin / LONG_PIECE_UNIT) * LONG_PIECE_UNIT
}

/** Gives back what an answer was written in; bytes from elsewhere are left alone. They must not be looked at any more. */
export function giveBackAnswerMemory({ buffer }: Uint8Array): void {
  if (lent.delete(buffer)) keep(buffer as ArrayBuffer)
}

/** The longest piece that is free, to be handed to another thread; undefined where there is none that is long. */
export function handOverAnswerMemory(): ArrayBuffer | undefined {
  const longest = free.at(-1)
  if (!longest || longest.byteLength <= PIECE_BYTES) return undefined
  free.pop()
  freeBytes -= longest.byteLength
  return longest.buffer
}

/** Takes over a piece from another thread: to be lent here, or lent already where an answer is in it. */
export function takeOverAnswerMemory(buffer: ArrayBuffer, hasAnswer: boolean): void {
  if (buffer.byteLength < PIECE_BYTES || buffer.byteLength > LENT_BYTES_MAX) return
  if (hasAnswer) lent.add(buffer)
  else keep(buffer)
}

function keep(buffer: ArrayBuffer): void {
  const { byteLength } = buffer
  if (free.length >= FREE_MAX || freeBytes + byteLength > FREE_BYTES_MAX) return
  const place = free.findIndex((each) => each.byteLength >= byteLength)
  free.splice(place < 0 ? free.length : place, 0, Buffer.from(buffer))
  freeBytes += byteLength
}

/** The same bytes in memory of their own, to be kept; what they were written in is given back. */
export function ownAnswerMemory(bytes: Uint8Array): Uint8Array {
  if (!lent.has(bytes.buffer)) return bytes
  const own = Buffer.from(bytes)
  giveBackAnswerMemory(bytes)
  return own
}
