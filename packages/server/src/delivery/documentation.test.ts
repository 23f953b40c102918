import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CHANNEL_BOUNDS } from '@millrace/contract'
import { describe, expect, it } from 'vitest'
import { backoffMs } from './backoff.ts'
import { DEFAULT_LIMITS } from './channel.ts'
import { SITUATIONS, STEPS } from './decide.ts'
import { VERDICTS, verdictOf } from './outcome.ts'

const page = readFileSync(fileURLToPath(new URL('../../../../docs/delivery.md', import.meta.url)), 'utf8')

/** The rows of the table behind a mark, as cells without backquotes; the heading first. */
function table(mark: string): readonly (readonly string[])[] {
  const lines = page
    .slice(page.indexOf(mark) + mark.length)
    .trimStart()
    .split('\n')
  const end = lines.findIndex((line) => !line.startsWith('|'))
  return lines
    .slice(0, end)
    .filter((_, index) => index !== 1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replaceAll('`', '').trim()),
    )
}

describe('docs/delivery.md', () => {
  it('has the state table of the code (DL-2, DL-3, DL-4)', () => {
    expect(table('<!-- steps -->')).toEqual([
      ['Verdict', ...SITUATIONS],
      ...VERDICTS.map((verdict) => [verdict, ...SITUATIONS.map((situation) => STEPS[verdict][situation])]),
    ])
  })

  it('has the waits of the code (DL-3)', () => {
    const { backoff } = DEFAULT_LIMITS
    const rows = table('<!-- backoff -->').slice(1)
    expect(rows).toHaveLength(13)
    for (const [index, [, shortest, longest]] of rows.entries()) {
      expect(shortest).toBe(`${backoffMs(backoff, index + 1, 0) / 1000} s`)
      expect(longest).toBe(`${backoffMs(backoff, index + 1, 1) / 1000} s`)
    }
    expect(backoffMs(backoff, 14, 1)).toBe(backoffMs(backoff, 13, 1))
  })

  it('has the settings of a channel, what they are by default and from what to what they go (DL-5, DL-7, DL-13)', () => {
    const { backoff, deadLetter, requestsPerSecond, ...limits } = DEFAULT_LIMITS
    const defaults: Readonly<Record<string, number>> = {
      ...limits,
      requestsPerSecond: requestsPerSecond ?? 0,
      'backoff.initialMs': backoff.initialMs,
      'backoff.capMs': backoff.capMs,
      'deadLetter.ageMs': deadLetter.ageMs,
      'deadLetter.attempts': deadLetter.attempts,
      confirmations: 0,
    }
    const listed = table('<!-- settings -->').slice(1)
    expect(listed.map(([setting, , byDefault, bounds]) => [setting, byDefault, bounds])).toEqual(
      Object.entries(CHANNEL_BOUNDS).map(([setting, { minimum, maximum }]) => [
        setting,
        String(defaults[setting]),
        `${minimum} to ${maximum}`,
      ]),
    )
  })

  it('has the verdicts of the code (DL-2, DL-4)', () => {
    const listed = table('## What an answer means').slice(1)
    const verdictsOf = (verdict: string) => listed.find(([, name]) => name === verdict)?.[0] ?? ''
    for (let status = 100; status < 600; status += 1) {
      if (status >= 200 && status <= 209) continue
      const verdict = verdictOf({ kind: 'refused', status, retryAfterMs: null })
      if (verdict !== 'endpoint') expect(verdictsOf(verdict)).toMatch(new RegExp(`\\b${status}\\b`))
    }
  })
})
