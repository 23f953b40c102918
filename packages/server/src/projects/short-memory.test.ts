import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/support/manual-clock.ts'
import { createShortMemory } from './short-memory.ts'

describe('short memory', () => {
  it('remembers for a second from the start of the look-up', async () => {
    const clock = createManualClock()
    const memory = createShortMemory<number>(clock)
    const look = (value: number) => () => {
      clock.advance(400)
      return Promise.resolve(value)
    }
    expect(await memory.read('key', look(1))).toBe(1)
    clock.advance(599)
    expect(await memory.read('key', look(2))).toBe(1)
    clock.advance(1)
    expect(await memory.read('key', look(3))).toBe(3)
    expect(await memory.read('other', look(4))).toBe(4)
  })

  it('does not remember what a look-up found that began before everything was forgotten', async () => {
    const memory = createShortMemory<number>(createManualClock())
    const gate = Promise.withResolvers<number>()
    const early = memory.read('key', () => gate.promise)
    memory.forget()
    gate.resolve(1)
    expect(await early).toBe(1)
    expect(await memory.read('key', () => Promise.resolve(2))).toBe(2)
  })

  it('tells without a look what it remembers, and nothing else', async () => {
    const clock = createManualClock()
    const memory = createShortMemory<number>(clock)
    expect(memory.recall('key')).toBeUndefined()
    await memory.read('key', () => Promise.resolve(1))
    clock.advance(999)
    expect(memory.recall('key')).toBe(1)
    clock.advance(1)
    expect(memory.recall('key')).toBeUndefined()
    await memory.read('key', () => Promise.resolve(2))
    memory.forget()
    expect(memory.recall('key')).toBeUndefined()
  })

  it('does not remember that nothing was found', async () => {
    const memory = createShortMemory<number>(createManualClock())
    expect(await memory.read('key', () => Promise.resolve(null))).toBeNull()
    expect(await memory.read('key', () => Promise.resolve(1))).toBe(1)
  })
})
