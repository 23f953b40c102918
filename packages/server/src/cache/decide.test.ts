import { assert, boolean, constantFrom, double, integer, option, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CACHE_DECISIONS, decideCache } from './decide.ts'
import { CACHE_DEFAULTS, parseCachePolicy } from './parse-policy.ts'

const MINUTE = 60_000
const DAY = 86_400_000

describe('decision of the cache', () => {
  const standard = parseCachePolicy(undefined)

  it.each([
    [null, 'compute'],
    [-5, 'serve'],
    [0, 'serve'],
    [MINUTE, 'serve'],
    [MINUTE + 1, 'serve_and_refresh'],
    [15 * DAY, 'serve_and_refresh'],
    [15 * DAY + 1, 'compute'],
  ] as const)('by default, for an answer of age %s ms: %s (CA-2)', (ageMs, expected) => {
    expect(decideCache(standard, ageMs === null ? null : { ageMs, isLate: false }, 'none')).toBe(expected)
  })

  it.each([
    [{ noCache: true }, 0, 'bypass'],
    [{ noCache: true }, null, 'bypass'],
    [{ forceRefresh: true }, 0, 'force'],
    [{ cacheTtlSecs: 0 }, 1, 'compute'],
    [{ cacheTtlSecs: 10 }, 10_001, 'compute'],
    [{ cacheTtlSecs: 10, cacheRefreshTtlSecs: 20 }, 10_000, 'serve'],
    [{ cacheRefreshTtlSecs: 0 }, 1, 'serve_and_refresh'],
    [{ cacheRefreshTtlSecs: 0.5 }, 501, 'serve_and_refresh'],
  ] as const)('for %j and age %s ms: %s (CA-2, CA-3)', (wire, ageMs, expected) => {
    const stored = ageMs === null ? null : { ageMs, isLate: false }
    expect(decideCache(parseCachePolicy(wire), stored, 'none')).toBe(expected)
  })

  it.each([
    ['none', 'serve_and_refresh'],
    ['running', 'serve_meanwhile'],
    ['paused', 'serve'],
  ] as const)(
    'late data makes an answer due at once; with flight %s: %s (CA-4, CA-6)',
    (flight, expected) => {
      const patient = parseCachePolicy({ cacheRefreshTtlSecs: 1_000_000 })
      expect(decideCache(patient, { ageMs: 0, isLate: true }, flight)).toBe(expected)
      expect(decideCache(patient, { ageMs: 0, isLate: false }, flight)).toBe('serve')
    },
  )

  it('never serves what is older than the ttl, and never ages backwards (CA-2)', () => {
    const RANK = {
      serve: 0,
      serve_meanwhile: 1,
      serve_and_refresh: 1,
      wait: 2,
      compute: 2,
      bypass: 3,
      force: 3,
    }
    const policies = record({
      cacheTtlSecs: integer({ min: 0, max: 10_000 }),
      cacheRefreshTtlSecs: double({ min: 0, max: 10_000, noNaN: true }),
      noCache: boolean(),
    })
    assert(
      property(
        policies,
        option(integer({ min: -1000, max: 2e7 })),
        integer({ min: 0, max: 1000 }),
        boolean(),
        constantFrom('none', 'running', 'paused'),
        (wire, ageMs, more, isLate, flight) => {
          const policy = parseCachePolicy(wire)
          const at = (age: number | null) =>
            decideCache(policy, age === null ? null : { ageMs: age, isLate }, flight)
          const decision = at(ageMs)
          if (policy.isBypassed) expect(decision).toBe('bypass')
          else if (ageMs === null || ageMs > wire.cacheTtlSecs * 1000) {
            expect(decision).toBe(flight === 'running' ? 'wait' : 'compute')
          } else expect(RANK[at(ageMs + more)]).toBeGreaterThanOrEqual(RANK[decision])
          // At most one computation of a key is begun while another one runs.
          if (flight === 'running') expect(CACHE_DECISIONS[decision].refreshes).toBe('no')
        },
      ),
    )
  })
})

describe('cache policy', () => {
  it('has the defaults of 15 days and 60 seconds, which configuration may change (CA-2)', () => {
    expect(parseCachePolicy(undefined)).toEqual({
      ttlSeconds: 1_296_000,
      refreshTtlSeconds: 60,
      isBypassed: false,
      isRefreshForced: false,
    })
    expect(parseCachePolicy({}, { ...CACHE_DEFAULTS, refreshTtlSeconds: 5 }).refreshTtlSeconds).toBe(5)
  })

  it('takes a refresh ttl above the ttl for the ttl (CA-3)', () => {
    expect(parseCachePolicy({ cacheTtlSecs: 30 }).refreshTtlSeconds).toBe(30)
  })

  it.each([
    [{ noCache: true, forceRefresh: true }, 'noCache and forceRefresh'],
    [{ cacheTtlSecs: -1 }, 'cacheTtlSecs must be'],
    [{ cacheRefreshTtlSecs: -0.1 }, 'cacheRefreshTtlSecs must be'],
    [{ cacheTtlSecs: Number.NaN }, 'cacheTtlSecs must be'],
  ])('refuses %j, naming the field (CA-3)', (wire, message) => {
    expect(() => parseCachePolicy(wire)).toThrow(message)
  })
})
