import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementsOf, membersOf } from './scan-json.ts'

/** JSON values as text, with the white space and escapes that `JSON.stringify` never writes. */
const jsonText = fc.json().chain((text) => fc.constantFrom(text, JSON.stringify(JSON.parse(text), null, 2)))

describe('the JSON scanner', () => {
  it('finds every member of an object with exactly the text it was written in (DL-1)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), jsonText), { maxLength: 6 }),
        fc.constantFrom('', ' ', '\n\t', '\r\n  '),
        (members, space) => {
          const text = `${space}{${space}${members
            .map(([key, value]) => `${JSON.stringify(key)}${space}:${space}${value}`)
            .join(`${space},${space}`)}${space}}${space}`
          const found = membersOf(text, 0)
          expect([...found.keys()].toSorted()).toEqual([...new Set(members.map(([key]) => key))].toSorted())
          const written = new Map(members)
          for (const [key, span] of found) expect(text.slice(span.start, span.end)).toBe(written.get(key))
        },
      ),
    )
  })

  it('finds every element of an array', () => {
    fc.assert(
      fc.property(fc.array(jsonText, { maxLength: 8 }), (values) => {
        const text = `[ ${values.join(' , ')} ]`
        expect(elementsOf(text, 0).map(({ start, end }) => text.slice(start, end))).toEqual(values)
      }),
    )
  })

  it('keeps digits, key order, repeated keys and escapes (IN-6)', () => {
    const data = String.raw`{"b":1.10,"a":9007199254740993,"b":[1e2,"}\"]\\"],"\u0061":"\\"}`
    const text = `{"type":"export","d\\u0061ta":${data} , "z":1}`
    const span = membersOf(text, 0).get('data')
    expect(span && text.slice(span.start, span.end)).toBe(data)
  })
})
