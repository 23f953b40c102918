import { QueryRangeRequest } from '@millrace/contract'
import { describe, expect, it } from 'vitest'
import { misspeltMembers } from './misspelt-members.ts'
import { createReader, hintsOf } from './validate.ts'

const timeRange = { start: 'now-1d', end: 'now', step: 3600 }

describe('members of a request that look like known ones', () => {
  it('are named with their place and the one that may be meant', () => {
    const body = {
      timeRange: { ...timeRange, timeZone: 'Asia/Tokyo' },
      queries: [
        { query: 'a' },
        { query: 'b', agregate: { op: 'SUM' }, functions: [{ name: 'topk', argument: [] }] },
      ],
      sample_limit: 3,
    }
    const told = (place: string, meant: string) =>
      `${place} is not known and was left out; did you mean ${meant}?`
    const hints = [
      told('timeRange.timeZone', 'timezone'),
      told('queries[1].agregate', 'aggregate'),
      told('queries[1].functions[0].argument', 'arguments'),
      told('sample_limit', 'samplesLimit'),
    ]
    expect(misspeltMembers(QueryRangeRequest, body)).toEqual(hints)
    expect(hintsOf(createReader(QueryRangeRequest, 'body')(body))).toEqual(hints)
  })

  it('are not looked for among labels, in what both spellings know, and in what resembles nothing (WI-2)', () => {
    const body = {
      time_range: timeRange,
      queries: [
        {
          query: 'a',
          label_selector: { quer: 'x', alia: 'y' },
          aggregate: { op: 'SUM', grouping: ['g'] },
          color: 'red',
          dataSource: 'METRICS',
          sourceName: '',
        },
      ],
      samples_limit: 3,
      cachePolicy: { noCache: true, cache_ttl_secs: 1 },
      projectOwner: 'o',
      projectSlug: 'p',
      projectId: 'i',
      limit: 10,
      offset: 0,
      source: 'web',
      bypassCache: true,
    }
    expect(misspeltMembers(QueryRangeRequest, body)).toEqual([])
  })

  it('are told of a few times, whatever is sent', () => {
    const body = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`timeRange${n}`.slice(0, 10), 1]).concat([
        ['x'.repeat(1e6), 1],
      ]),
    )
    expect(misspeltMembers(QueryRangeRequest, body).length).toBeLessThanOrEqual(10)
  })
})
