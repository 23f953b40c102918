import { expect, it } from 'vitest'
import { instantSeconds } from './instant-seconds.ts'

it.each([
  ['2026-01-01T00:00:00Z', '1767225600'],
  ['2026-01-01T00:00:00.000000Z', '1767225600'],
  ['2026-01-01T01:00:00.1234567891+01:00', '1767225600.123456789'],
  ['1970-01-01t00:00:00.5z', '0.5'],
  ['1969-12-31T23:59:54.5Z', '-5.5'],
  ['2026-13-01T00:00:00Z', null],
  ['2026-01-01 00:00:00', null],
  ['2026-01-01T00:00:00', null],
  ['1767225600', null],
])('gives the seconds of an instant without losing a digit: %s', (text, seconds) => {
  expect(instantSeconds(text)).toBe(seconds)
})
