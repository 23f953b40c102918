import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCursorCodec } from './cursor.ts'

const codec = createCursorCodec(Buffer.from('a secret of this test'))
const cursors = fc.record({
  projectId: fc.nat(),
  resultId: fc.string({ minLength: 1, maxLength: 30 }),
  firstRow: fc.nat(),
  pageSize: fc.integer({ min: 1, max: 1_000_000 }),
})

it('reads back what it wrote, as often as asked (CU-2)', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = codec.encode(cursor)
      expect(codec.decode(text, cursor.projectId)).toEqual(cursor)
      expect(codec.decode(text, cursor.projectId)).toEqual(cursor)
    }),
  )
})

it('refuses a cursor in which any one character is another, missing or more (CU-2)', () => {
  fc.assert(
    fc.property(
      cursors,
      fc.nat(),
      fc.constantFrom('A', 'z', '0', '9', '-', '_', '=', '.', ' ', '+', '/', ''),
      fc.boolean(),
      (cursor, at, letter, isInserted) => {
        const text = codec.encode(cursor)
        const place = at % (text.length + (isInserted ? 1 : 0))
        const changed = text.slice(0, place) + letter + text.slice(isInserted ? place : place + 1)
        fc.pre(changed !== text)
        expect(() => codec.decode(changed, cursor.projectId)).toThrow(
          'cursor is not one that this service has returned',
        )
      },
    ),
  )
})

it('refuses any text that it has not written (CU-2)', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => codec.decode(text, 1)).toThrow('cursor is not one')
    }),
  )
})

it('refuses the cursor of another project and of another secret (CU-2)', () => {
  const text = codec.encode({ projectId: 1, resultId: 'r', firstRow: 0, pageSize: 1 })
  expect(() => codec.decode(text, 2)).toThrow('cursor belongs to another project')
  expect(() => createCursorCodec(Buffer.from('another')).decode(text, 1)).toThrow('cursor is not one')
})
