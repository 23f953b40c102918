import { queryOptions, useQuery } from '@tanstack/react-query'

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The routes of the service, as `POST /projects`: what it does not offer, the console does not show. */
const offersQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async () => {
    const { paths } = (await (await fetch('/openapi.json')).json()) as Description
    return new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
      ),
    )
  },
  staleTime: Infinity,
})

/** Whether the service has a route, e.g. `POST /webhook/channels/{owner}/{project}/{channel}/test`. */
export function useOffers(): (route: string) => boolean {
  const { data } = useQuery(offersQuery)
  return (route) => data?.has(route) ?? false
}
