/** Room for an answer that is sent as soon as it is written, with what its last number may overwrite behind it. */
const PIECE_BYTES = 256 * 1024
/** As many as are likely to be written at a time. */
const FREE_MAX = 4

const free: Buffer<ArrayBuffer>[] = []
const lent = new WeakSet<ArrayBufferLike>()

/**
 * Memory to write an answer in: at least `bytesMin`. New memory for every answer is looked for by the garbage collector with a run over the
 * whole heap every 64 MiB, which takes as long as dozens of answers; so pieces that are given back are lent again.
 */
export function takeAnswerMemory(bytesMin = 0): Buffer<ArrayBuffer> {
  if (bytesMin > PIECE_BYTES) return Buffer.allocUnsafeSlow(bytesMin)
  const piece = free.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
  lent.add(piece.buffer)
  return piece
}

/** Gives back what an answer was written in; bytes from elsewhere are left alone. They must not be looked at any more. */
export function giveBackAnswerMemory({ buffer }: Uint8Array): void {
  if (lent.delete(buffer) && free.length < FREE_MAX) free.push(Buffer.from(buffer as ArrayBuffer))
}

/** The same bytes in memory of their own, to be kept or sent; what they were written in is given back. */
export function ownAnswerMemory(bytes: Uint8Array): Uint8Array {
  if (!lent.has(bytes.buffer)) return bytes
  const own = Buffer.from(bytes)
  giveBackAnswerMemory(bytes)
  return own
}
