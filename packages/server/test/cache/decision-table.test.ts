import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CACHE_DECISIONS, decideCache, type FlightState } from '../../src/cache/decide.ts'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'

const page = readFileSync(new URL('../../../../docs/cache.md', import.meta.url), 'utf8')

/** The rows of the table whose first column has this title, without its head. */
function table(title: string): readonly (readonly string[])[] {
  const lines = page.split('\n')
  const head = lines.findIndex((line) => line.startsWith(`| ${title} `))
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'))
  return lines.slice(head + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

const POLICIES = {
  noCache: parseCachePolicy({ noCache: true }),
  forceRefresh: parseCachePolicy({ forceRefresh: true }),
  other: parseCachePolicy({ cacheTtlSecs: 10, cacheRefreshTtlSecs: 5 }),
}
const STORED = {
  none: [null, { ageMs: 10_001, isLate: false }, { ageMs: 10_001, isLate: true }],
  fresh: [
    { ageMs: -1, isLate: false },
    { ageMs: 5000, isLate: false },
  ],
  due: [
    { ageMs: 0, isLate: true },
    { ageMs: 5001, isLate: false },
    { ageMs: 10_000, isLate: true },
  ],
}
const FLIGHTS: readonly FlightState[] = ['none', 'running', 'paused']

it('decides every case as docs/cache.md says (CA-2, CA-3, CA-4, CA-6)', () => {
  const rows = table('Policy')
  const matches = (cell: string | undefined, value: string) =>
    cell === 'any' || cell?.split(', ').includes(value)
  for (const [policyName, policy] of Object.entries(POLICIES)) {
    for (const [storedName, states] of Object.entries(STORED)) {
      for (const flight of FLIGHTS) {
        const found = rows.filter(
          ([one, two, three]) =>
            matches(one, policyName) && matches(two, storedName) && matches(three, flight),
        )
        expect(found, `${policyName}, ${storedName}, ${flight}`).toHaveLength(1)
        for (const stored of states) {
          expect(decideCache(policy, stored, flight)).toBe(found[0]?.[3])
        }
      }
    }
  }
})

it('describes every decision as docs/cache.md does', () => {
  const described = table('Decision').map(([name, answer, stores, refreshes, isCached, isRefreshing]) => [
    name,
    { answer, stores, refreshes, isCached: isCached === 'true', isRefreshing: isRefreshing === 'true' },
  ])
  expect(Object.fromEntries(described)).toEqual(CACHE_DECISIONS)
})
