import type { Readable } from 'node:stream'
import { SUM_PARTS } from '../metrics/exact-sum.ts'
import { readNearSum, readWholeSum, SUM_WINDOWS, UNIT_WORDS } from './read-units.ts'

/** One row of a scan: the halves of the series' id, and its statistics from `at` on in `numbers` while the call lasts. */
type OnRow = (
  high: number,
  low: number,
  key: number,
  count: number,
  numbers: Float64Array,
  at: number,
) => void

/** A Float64, which is one number; or a sum of one Int256 or more, which becomes `SUM_PARTS` numbers. */
export type ColumnKind = 'number' | 'sum'

/** Where each column begins among a row's numbers, and behind them how many there are. */
export function placesOf(kinds: readonly ColumnKind[]): readonly number[] {
  const places = [0]
  for (const kind of kinds) places.push((places.at(-1) ?? 0) + (kind === 'sum' ? SUM_PARTS : 1))
  return places
}

/** What a statement's rows hold behind series, cell and count. */
export interface RowLayout {
  readonly kinds: readonly ColumnKind[]
  /** Do sums have all their windows, or only what is near? */
  readonly hasFar: boolean
}

/**
 * Reads RowBinary rows of UInt64, Int64, Float64 and their columns, in any chunks. False tells that rows were left out, because only the near
 * windows of their sums were read and those are not all.
 */
export async function readRows(
  stream: Readable,
  { kinds, hasFar }: RowLayout,
  onRow: OnRow,
): Promise<boolean> {
  const hasSums = kinds.includes('sum')
  const sumNumbers = (UNIT_WORDS / 2) * (hasFar ? SUM_WINDOWS : 1)
  const stride = 3 + kinds.reduce((total, kind) => total + (kind === 'sum' ? sumNumbers : 1), 0)
  const rowBytes = 8 * stride
  const made = new Float64Array(placesOf(kinds).at(-1) ?? 0)
  let isWhole = true
  let held: Buffer = Buffer.alloc(0)

  /** Makes the numbers of a row with sums; false where they are not all. */
  function make(numbers: Float64Array, words: Int32Array, first: number): boolean {
    let [from, to] = [first, 0]
    for (let column = 0; column < kinds.length; column += 1) {
      if (kinds[column] === 'number') {
        made[to] = numbers[from] ?? Number.NaN
        from += 1
        to += 1
        continue
      }
      if (hasFar) readWholeSum(words, 2 * from, made, to)
      else if (!readNearSum(words, 2 * from, made, to)) return false
      from += sumNumbers
      to += SUM_PARTS
    }
    return true
  }

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const rows = Math.floor(bytes.length / rowBytes)
    // Typed arrays need their memory aligned.
    const aligned = new Uint8Array(rows * rowBytes)
    aligned.set(bytes.subarray(0, aligned.length))
    const numbers = new Float64Array(aligned.buffer)
    const halves = new Int32Array(aligned.buffer)
    for (let row = 0, at = 0; row < rows; row += 1, at += stride) {
      // Keys are cells, or times in microseconds, both within 53 bits.
      const key = (halves[2 * at + 3] ?? 0) * 2 ** 32 + ((halves[2 * at + 2] ?? 0) >>> 0)
      const [high, low, count] = [halves[2 * at + 1] ?? 0, halves[2 * at] ?? 0, numbers[at + 2] ?? 0]
      if (!hasSums) onRow(high, low, key, count, numbers, at + 3)
      else if (make(numbers, halves, at + 3)) onRow(high, low, key, count, made, 0)
      else isWhole = false
    }
    held = bytes.subarray(rows * rowBytes)
  }
  if (held.length > 0) throw new Error(`A row of ${rowBytes} bytes ended after ${held.length}`)
  return isWhole
}
