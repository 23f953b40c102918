import { expect, it } from 'vitest'
import { writeFamilies } from './family.ts'
import { createRequestCounts } from './request-counts.ts'

it('counts requests by method, route and status, and how long they took by route', () => {
  const counts = createRequestCounts()
  const request = { method: 'POST', route: '/api/v1/x/:owner', status: 200 }
  counts.count({ ...request, durationMs: 5 })
  counts.count({ ...request, durationMs: 30 })
  counts.count({ ...request, status: 429, durationMs: 20_000 })
  expect(writeFamilies(counts.families()).split('\n')).toEqual([
    '# HELP millrace_http_requests_total Requests answered, by method, route and status.',
    '# TYPE millrace_http_requests_total counter',
    'millrace_http_requests_total{method="POST",route="/api/v1/x/:owner",status="200"} 2',
    'millrace_http_requests_total{method="POST",route="/api/v1/x/:owner",status="429"} 1',
    '# HELP millrace_http_request_duration_seconds Time from a request to its answer, by route.',
    '# TYPE millrace_http_request_duration_seconds histogram',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="0.005"} 1',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="0.025"} 1',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="0.1"} 2',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="0.5"} 2',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="2.5"} 2',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="10"} 2',
    'millrace_http_request_duration_seconds_bucket{route="/api/v1/x/:owner",le="+Inf"} 3',
    'millrace_http_request_duration_seconds_sum{route="/api/v1/x/:owner"} 20.035',
    'millrace_http_request_duration_seconds_count{route="/api/v1/x/:owner"} 3',
    '',
  ])
})

it('escapes what would end a label early', () => {
  const samples = [{ labels: { name: 'a"b\\c\nd' }, value: 1 }]
  expect(writeFamilies([{ name: 'x', help: 'y.', type: 'gauge', samples }])).toContain(
    String.raw`x{name="a\"b\\c\nd"} 1`,
  )
})
