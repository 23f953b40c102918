import { assert, constantFrom, nat, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecret, hashSecret, isMistyped, SECRET_PATTERN } from './secret.ts'

describe('secret of a key', () => {
  it('is prefixed, has 160 random bits or more, and never repeats (AU-1)', () => {
    const secrets = new Set(Array.from({ length: 1000 }, () => createSecret()))
    expect(secrets.size).toBe(1000)
    const randomCharacters = 30
    expect(randomCharacters * Math.log2(54)).toBeGreaterThan(160)
    for (const secret of secrets) {
      expect(secret).toMatch(SECRET_PATTERN)
      expect(secret).toMatch(/^mr_[0-9A-Za-z]{37}$/)
      expect(isMistyped(secret)).toBe(false)
    }
  })

  it('betrays a wrong character, a missing one and one too many', () => {
    const secret = createSecret()
    assert(
      property(
        nat(secret.length - 4),
        constantFrom('0', '1', '9', 'a', 'z', 'A', 'Z', '-'),
        (offset, letter) => {
          const at = offset + 3
          const changed = secret.slice(0, at) + letter + secret.slice(at + 1)
          expect(isMistyped(changed)).toBe(changed !== secret)
          expect(isMistyped(secret.slice(0, at) + secret.slice(at + 1))).toBe(true)
          expect(isMistyped(secret.slice(0, at) + letter + secret.slice(at))).toBe(true)
        },
      ),
    )
  })

  it('leaves a secret of another form alone: an operator may supply one (AU-4)', () => {
    expect(isMistyped('a-long-secret-from-a-vault-0001')).toBe(false)
  })

  it('is hashed with SHA-256', () => {
    expect(hashSecret('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })
})
