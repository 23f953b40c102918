import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteText } from '../cache/byte-text.ts'
import { createPageGrowth } from './growing-page.ts'
import { PageFill, type Page } from './page.ts'

const NO_LIMIT = { rows: Infinity, bytes: Infinity }

/** Rows in memory of their own, or behind those before where `isNext`. */
const batches = fc.array(
  fc.record({
    rows: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
    isNext: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

it.each([{ isForReaderAlone: true }, { isForReaderAlone: false }])(
  'gives the rows of any batches once, however they lie in memory and whenever they are read, %o (SQ-3)',
  async (mode) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.infiniteStream(fc.boolean()), async (given, reads) => {
        const room = Buffer.alloc(10_000)
        let used = 0
        const fill = new PageFill(NO_LIMIT)
        const growth = createPageGrowth([], fill, mode)
        const pieces = growth.page.rows()[Symbol.asyncIterator]()
        let text = ''
        let expected = ''
        let next = pieces.next()
        for (const { rows, isNext } of given) {
          const lines = rows.map((row) => `${JSON.stringify(row)},\n`)
          const own = Buffer.from(lines.join(''))
          const bytes = isNext ? room.subarray(used, used + own.copy(room, used)) : own
          if (isNext) used += own.length
          let end = 0
          fill.take({ bytes, ends: lines.map((line) => (end += Buffer.byteLength(line))) })
          expected += own.toString()
          growth.grown()
          if (!reads.next().value) continue
          text += String((await next).value)
          next = pieces.next()
        }
        const page: Page = {
          columns: [],
          rows: new ByteText([]),
          rowCount: fill.rowCount,
          generatedAt: 0,
          next: null,
        }
        growth.end(page)
        for (let piece = await next; !piece.done; piece = await pieces.next()) text += String(piece.value)
        expect(text).toBe(expected.slice(0, -2))
        expect(fill.parts.slice(0, -1).some(({ length }) => length > 0)).toBe(
          !mode.isForReaderAlone && fill.parts.length > 1,
        )
        expect(await growth.page.whole).toBe(page)
      }),
    )
  },
)

it('throws behind the rows that are there where their end cannot be told', async () => {
  const fill = new PageFill(NO_LIMIT)
  const growth = createPageGrowth([], fill, { isForReaderAlone: true })
  fill.take({ bytes: Buffer.from('{},\n'), ends: [4] })
  growth.fail(new Error('the disk is full'))
  const pieces: string[] = []
  const read = async (): Promise<void> => {
    for await (const piece of growth.page.rows()) pieces.push(String(piece))
  }
  await expect(read()).rejects.toThrow('the disk is full')
  expect(pieces).toEqual(['{}'])
})
