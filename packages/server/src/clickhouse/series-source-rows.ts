import type { Readable } from 'node:stream'

/** One row of a scan: the halves of the series' id, and its statistics from `at` on in `numbers` while the call lasts. */
type OnRow = (
  high: number,
  low: number,
  key: number,
  count: number,
  numbers: Float64Array,
  at: number,
) => void

/** Reads RowBinary rows of UInt64, Int64, Float64 and `width` times Float64, in any chunks. */
export async function readRows(stream: Readable, width: number, onRow: OnRow): Promise<void> {
  const rowBytes = 24 + 8 * width
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const rows = Math.floor(bytes.length / rowBytes)
    // Typed arrays need their memory aligned.
    const aligned = new Uint8Array(rows * rowBytes)
    aligned.set(bytes.subarray(0, aligned.length))
    const numbers = new Float64Array(aligned.buffer)
    const halves = new Int32Array(aligned.buffer)
    for (let row = 0, at = 0; row < rows; row += 1, at += 3 + width) {
      // Keys are cells, or times in microseconds, both within 53 bits.
      const key = (halves[2 * at + 3] ?? 0) * 2 ** 32 + ((halves[2 * at + 2] ?? 0) >>> 0)
      onRow(halves[2 * at + 1] ?? 0, halves[2 * at] ?? 0, key, numbers[at + 2] ?? 0, numbers, at + 3)
    }
    held = bytes.subarray(rows * rowBytes)
  }
  if (held.length > 0) throw new Error(`A row of ${rowBytes} bytes ended after ${held.length}`)
}
