import { queryOptions } from '@tanstack/react-query'

/** How the service is: `ready`, `not ready` when one of its engines does not answer, `lost` when nothing does. */
export type Health = 'ready' | 'not ready' | 'lost'

/** The service's own word on its engines, every five seconds. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: async ({ signal }): Promise<Health> => {
    try {
      return (await fetch('/readyz', { signal })).ok ? 'ready' : 'not ready'
    } catch (error) {
      if (signal.aborted) throw error
      return 'lost'
    }
  },
  refetchInterval: 5000,
  refetchIntervalInBackground: true,
})
