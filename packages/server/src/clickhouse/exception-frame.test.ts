import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ServiceError } from '../platform/errors.ts'
import { createExceptionFrame } from './exception-frame.ts'

const TAG = '0123456789abcdef'
const MESSAGE = 'Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)\n'
const FRAME = `\r\n__exception__\r\n${TAG}\r\n${MESSAGE}${MESSAGE.length} ${TAG}\r\n__exception__\r\n`

async function pass(bytes: Buffer, cuts: readonly number[]): Promise<{ passed: Buffer; error: unknown }> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  const chunks = places.slice(1).map((place, n) => bytes.subarray(places[n], place))
  const passed: Buffer[] = []
  try {
    for await (const chunk of Readable.from(chunks).pipe(createExceptionFrame(TAG)))
      passed.push(chunk as Buffer)
  } catch (error) {
    return { passed: Buffer.concat(passed), error }
  }
  return { passed: Buffer.concat(passed), error: null }
}

it('passes every result on unchanged, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      async (bytes, cuts) => {
        const { passed, error } = await pass(Buffer.from(bytes), cuts)
        expect(error).toBeNull()
        expect(passed).toEqual(Buffer.from(bytes))
      },
    ),
  )
})

it('fails with the reason of a broken-off result, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.array(fc.nat(), { maxLength: 8 }), async (text, cuts) => {
      const { error } = await pass(Buffer.from(text + FRAME), cuts)
      expect(error).toBeInstanceOf(ServiceError)
      expect((error as ServiceError).code).toBe('deadline_exceeded')
      expect((error as ServiceError).message).toBe('Timeout exceeded.')
    }),
  )
})

it('holds back nothing but what begins a frame perhaps: the next chunk may be long in coming', () => {
  const frame = createExceptionFrame(TAG)
  for (const [chunk, passed] of [
    ['3\n', '3\n'],
    ['4\r\n', '4'],
    ['5\r\n__exce', '\r\n5'],
    ['pt', null],
    ['ion\r', '\r\n__exception'],
  ] as const) {
    frame.write(chunk)
    expect(frame.read()?.toString() ?? null).toBe(passed)
  }
})
