import type { Family, Sample } from './family.ts'

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string
  /** The pattern of its route: addresses would be without number. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** Counts the requests that this process has answered. */
export interface RequestCounts {
  count(request: AnsweredRequest): void
  families(): readonly Family[]
}

const BOUNDS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const

export function createRequestCounts(): RequestCounts {
  const statuses = new Map<string, Pick<AnsweredRequest, 'method' | 'route' | 'status'> & { value: number }>()
  const durations = new Map<string, { readonly buckets: number[]; seconds: number; count: number }>()
  return {
    count: ({ method, route, status, durationMs }) => {
      const key = `${method} ${status} ${route}`
      const known = statuses.get(key)
      if (known) known.value += 1
      else statuses.set(key, { method, route, status, value: 1 })
      const seconds = durationMs / 1000
      const duration = durations.get(route) ?? { buckets: BOUNDS_SECONDS.map(() => 0), seconds: 0, count: 0 }
      durations.set(route, duration)
      duration.seconds += seconds
      duration.count += 1
      for (const [index, bound] of BOUNDS_SECONDS.entries()) {
        if (seconds <= bound) duration.buckets[index] = (duration.buckets[index] ?? 0) + 1
      }
    },
    families: () => [
      {
        name: 'millrace_http_requests_total',
        help: 'Requests answered, by method, route and status.',
        type: 'counter',
        samples: [...statuses.values()].map(({ value, ...labels }) => ({ labels, value })),
      },
      {
        name: 'millrace_http_request_duration_seconds',
        help: 'Time from a request to its answer, by route.',
        type: 'histogram',
        samples: [...durations].flatMap(([route, { buckets, seconds, count }]): Sample[] => [
          ...BOUNDS_SECONDS.map((le, index) => ({
            ending: '_bucket' as const,
            labels: { route, le },
            value: buckets[index] ?? 0,
          })),
          { ending: '_bucket', labels: { route, le: '+Inf' }, value: count },
          { ending: '_sum', labels: { route }, value: seconds },
          { ending: '_count', labels: { route }, value: count },
        ]),
      },
    ],
  }
}
