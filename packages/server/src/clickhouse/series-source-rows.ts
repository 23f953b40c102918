import type { Readable } from 'node:stream'

/** One row of a scan; `statistic` reads its columns while the call lasts. */
type OnRow = (seriesId: bigint, key: number, count: number, statistic: (column: number) => number) => void

/** Reads RowBinary rows of UInt64, Int64, Float64 and `width` times Float64, in any chunks. */
export async function readRows(stream: Readable, width: number, onRow: OnRow): Promise<void> {
  const rowBytes = 24 + 8 * width
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let offset = 0
    const statistic = (column: number) => bytes.readDoubleLE(offset + 24 + 8 * column)
    for (; offset + rowBytes <= bytes.length; offset += rowBytes) {
      onRow(
        bytes.readBigUInt64LE(offset),
        Number(bytes.readBigInt64LE(offset + 8)),
        bytes.readDoubleLE(offset + 16),
        statistic,
      )
    }
    held = bytes.subarray(offset)
  }
  if (held.length > 0) throw new Error(`A row of ${rowBytes} bytes ended after ${held.length}`)
}
