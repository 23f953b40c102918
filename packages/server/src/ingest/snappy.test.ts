import { describe, expect, it } from 'vitest'
import { decompressSnappy } from './snappy.ts'

const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))
const text = (block: Uint8Array) => Buffer.from(decompressSnappy(block, 1000)).toString()

describe('snappy', () => {
  it('reads literals, and copies whose distance has one, two or four bytes', () => {
    expect(text(bytes(5, 4 << 2, 'hello'))).toBe('hello')
    expect(text(bytes(9, 2 << 2, 'abc', 2 | ((6 - 1) << 2), 3, 0))).toBe('abcabcabc')
    expect(text(bytes(7, 2 << 2, 'abc', 1, 3))).toBe('abcabca')
    expect(text(bytes(6, 2 << 2, 'abc', 3 | ((3 - 1) << 2), 3, 0, 0, 0))).toBe('abcabc')
  })

  it('reads literals whose length stands in bytes of its own', () => {
    const long = 'x'.repeat(300)
    expect(text(bytes(0xac, 0x02, 61 << 2, 0x2b, 0x01, long))).toBe(long)
  })

  it.each([
    ['empty', bytes()],
    ['cut off in a literal', bytes(5, 4 << 2, 'hel')],
    ['shorter than it says', bytes(9, 4 << 2, 'hello')],
    ['longer than it says', bytes(3, 4 << 2, 'hello')],
    ['a copy from before the beginning', bytes(8, 2 << 2, 'abc', 1, 4)],
    ['a copy from itself', bytes(8, 2 << 2, 'abc', 1, 0)],
    ['a length without end', bytes(0xff, 0xff, 0xff, 0xff, 0xff)],
  ])('refuses what is %s', (_what, block) => {
    expect(() => decompressSnappy(block, 1000)).toThrow('malformed')
  })

  it('refuses a block that says to be larger than is allowed, before any memory is taken', () => {
    expect(() => decompressSnappy(bytes(0xff, 0xff, 0xff, 0xff, 0x0f), 1000)).toThrow('at most 1000')
  })
})
