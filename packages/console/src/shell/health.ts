import { queryOptions, type QueryClient } from '@tanstack/react-query'

/** How the service is: `ready`, `not ready` when one of its engines does not answer, `lost` when nothing does. */
export type Health = 'ready' | 'not ready' | 'lost'

const KEY = ['health'] as const
const EVERY_MS = 5000
/** While the service is away: how soon it is noticed that it is back. */
const RECOVERY_MS = 1000
const ANSWER_WITHIN_MS = 8000

/** The service's own word on its engines. When it is back, everything on the screen is asked for anew. */
export const healthQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ signal, client }): Promise<Health> => {
    const before = client.getQueryData<Health>(KEY) ?? 'ready'
    const now = await askHealth(signal)
    if (now === 'ready' && before !== 'ready') {
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] })
    }
    return now
  },
  refetchInterval: ({ state }) =>
    state.data === undefined || state.data === 'ready' ? EVERY_MS : RECOVERY_MS,
  refetchIntervalInBackground: true,
})

/** Notes that a request of the page got no answer: the page goes on when the service answers again. */
export function noteLost(client: QueryClient): void {
  client.setQueryData<Health>(KEY, 'lost')
  void client.refetchQueries({ queryKey: KEY })
}

async function askHealth(signal: AbortSignal): Promise<Health> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)])
    return (await fetch('/readyz', { signal: within, cache: 'no-store' })).ok ? 'ready' : 'not ready'
  } catch (error) {
    if (signal.aborted) throw error
    return 'lost'
  }
}
