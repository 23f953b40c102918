import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { contentHash, isHashOf } from './content-hash.ts'

it.each([0, 1, 256 * 1024, 256 * 1024 + 1, 1_000_000])(
  'the hash of %d bytes is the one of all of them, though they are read bit by bit (IN-2)',
  async (size) => {
    const body = Buffer.from(Array.from({ length: size }, (_, i) => i % 251))
    expect(await contentHash(body)).toBe(`blake2b:${hash('blake2b512', body).slice(0, 64)}`)
  },
)

it('recognises bytes by the hashes that earlier versions stored without a name, and by no other (IN-2)', async () => {
  const body = Buffer.from('a batch')
  const own = await contentHash(body)
  const isOurs = [own, own.replace('blake2b:', ''), hash('sha256', body), hash('sha1', body)].map((stored) =>
    isHashOf(stored, own, body),
  )
  expect(isOurs).toEqual([true, true, true, false])
})
