import { describe, expect, it } from 'vitest'
import { createBodyMemory } from './body-memory.ts'

const bytes = (text: string) => Buffer.from(text)
const parse = (body: Uint8Array): unknown => JSON.parse(Buffer.from(body).toString())

describe('memory of bodies', () => {
  it('reads equal bytes once, and others again', () => {
    const memory = createBodyMemory()
    const first = memory.read(bytes('{"a":"é"}'), parse)
    expect(memory.read(bytes('{"a":"é"}'), parse)).toBe(first)
    expect(memory.read(bytes('{"a":"e"}'), parse)).toEqual({ a: 'e' })
    expect(first).toEqual({ a: 'é' })
  })

  it('lets nobody change what others will be given', () => {
    const read = createBodyMemory().read(bytes('{"a":[{"b":1}]}'), parse) as { a: { b: number }[] }
    expect(() => {
      const [member] = read.a
      if (member) member.b = 2
    }).toThrow(TypeError)
  })

  it('remembers nothing of what cannot be read', () => {
    const memory = createBodyMemory()
    expect(() => memory.read(bytes('{'), parse)).toThrow(SyntaxError)
    expect(memory.read(bytes('{'), () => 'read')).toBe('read')
  })

  it('forgets what was not used for longest when bodies take too much room, and never remembers a large one', () => {
    const memory = createBodyMemory()
    const body = (index: number) => bytes(JSON.stringify(`${index}`.padEnd(8000)))
    const first = memory.read(body(0), (given) => [parse(given)])
    const large = bytes(JSON.stringify('x'.repeat(9000)))
    expect(memory.read(large, (given) => [parse(given)])).not.toBe(
      memory.read(large, (given) => [parse(given)]),
    )
    for (let index = 1; index < 500; index++) {
      memory.read(body(index), (given) => [parse(given)])
      expect(memory.read(body(0), () => null)).toBe(first)
    }
    for (let index = 500; index < 1100; index++) memory.read(body(index), (given) => [parse(given)])
    expect(memory.read(body(0), () => null)).toBe(null)
  })
})
