import { expect, test } from 'vitest'
import { createChunkReader } from './chunk-reader.ts'
import { packChunk } from './spool-chunk.ts'
import type { SpoolChunk } from './spool.ts'

const ROWS_OF_CHUNK = 10
const CHUNKS = 3

/** Rows that tell their result and number, in chunks of ten; and how many chunks were asked for. */
function countingSpool() {
  const asked: string[] = []
  return {
    asked,
    chunkAt: async (resultId: string, row: number): Promise<SpoolChunk | null> => {
      asked.push(`${resultId}/${row}`)
      const firstRow = row - (row % ROWS_OF_CHUNK)
      if (firstRow >= CHUNKS * ROWS_OF_CHUNK) return null
      const numbers = Array.from({ length: ROWS_OF_CHUNK }, (_, n) => firstRow + n)
      return packChunk(firstRow, ROWS_OF_CHUNK, Buffer.from(numbers.map((n) => textOf(resultId, n)).join('')))
    },
  }
}

function textOf(resultId: string, row: number): string {
  // Rows of different lengths, with characters of several bytes.
  return `{"r":"${resultId}","n":"${'é'.repeat(row % 4)}${row}"},\n`
}

test('rows from any one on are those of the result, up to the end of their chunk (CU-1)', async () => {
  const spool = countingSpool()
  const reader = createChunkReader(spool)
  for (const resultId of ['a', 'b']) {
    for (let row = CHUNKS * ROWS_OF_CHUNK - 1; row >= 0; row--) {
      for (const count of [1, 4, 100]) {
        const rows = await reader.rowsAt(resultId, row, count)
        const length = Math.min(count, ROWS_OF_CHUNK - (row % ROWS_OF_CHUNK))
        const texts = Array.from({ length }, (_, n) => textOf(resultId, row + n))
        let end = 0
        expect(rows?.ends).toEqual(texts.map((text) => (end += Buffer.byteLength(text))))
        expect(rows?.bytes.subarray(0, end).toString()).toBe(texts.join(''))
      }
    }
  }
  expect(await reader.rowsAt('a', CHUNKS * ROWS_OF_CHUNK, 1)).toBeNull()
})

test('a chunk is read once for the pages in it, whichever results are read by turns', async () => {
  const spool = countingSpool()
  const reader = createChunkReader(spool)
  for (let row = 0; row < CHUNKS * ROWS_OF_CHUNK; row += 5) {
    await reader.rowsAt('a', row, 5)
    await reader.rowsAt('b', row, 5)
  }
  expect(spool.asked).toEqual(['a/0', 'b/0', 'a/10', 'b/10', 'a/20', 'b/20'])
})

test('rows that were not there yet are looked for again', async () => {
  let isWritten = false
  const spool = countingSpool()
  const reader = createChunkReader({
    chunkAt: (resultId, row) => (isWritten ? spool.chunkAt(resultId, row) : Promise.resolve(null)),
  })
  expect(await reader.rowsAt('a', 3, 1)).toBeNull()
  isWritten = true
  expect((await reader.rowsAt('a', 3, 1))?.ends).toHaveLength(1)
})

test('what is larger than the bound is not remembered', async () => {
  const spool = countingSpool()
  const reader = createChunkReader(spool, 100)
  await reader.rowsAt('a', 0, 1)
  await reader.rowsAt('a', 1, 1)
  expect(spool.asked).toEqual(['a/0', 'a/1'])
})
