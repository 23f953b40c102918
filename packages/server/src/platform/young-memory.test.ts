import { expect, it } from 'vitest'
import { noteShortLived } from './young-memory.ts'

const MEBIBYTE = 2 ** 20

it('gives back memory outside of the heap that was used for a moment, before it gathers', () => {
  let most = 0
  for (let round = 0; round < 64; round++) {
    noteShortLived(Buffer.allocUnsafeSlow(MEBIBYTE).byteLength)
    most = Math.max(most, process.memoryUsage().arrayBuffers)
  }
  // Of the 64 only those between two runs are there at once.
  expect(most).toBeLessThan(50 * MEBIBYTE)
})
