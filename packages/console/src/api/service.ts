import type { ProjectUsage, ServiceStatus } from '@millrace/contract'
import { queryOptions } from '@tanstack/react-query'
import { projectPath, type ProjectAddress } from './project-address.ts'
import { request } from './request.ts'

/** Version, engines and disk of the service, live. */
export const serviceQuery = queryOptions({
  queryKey: ['service'],
  queryFn: ({ signal }) => request<ServiceStatus>('/service', { signal }),
  refetchInterval: 10_000,
})

/** What a project stores, live. */
export function usageQuery(address: ProjectAddress) {
  return queryOptions({
    queryKey: ['usage', address],
    queryFn: ({ signal }) => request<ProjectUsage>(`/projects/${projectPath(address)}/usage`, { signal }),
    refetchInterval: 30_000,
  })
}
