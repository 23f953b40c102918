import type { SessionView } from '@millrace/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError, request } from './request.ts'

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    try {
      return (await request<SessionView>('/session', { signal })).key
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** What the key that is signed in may do. */
export function usePermissions() {
  const { data: key } = useQuery(sessionQuery)
  const has = (name: 'read' | 'write' | 'admin') => key?.permissions.includes(name) ?? false
  return {
    mayRead: has('read'),
    mayWrite: has('write'),
    mayAdmin: has('admin'),
    /** A key of named projects manages neither keys nor projects: it could make itself wider. */
    mayManageKeys: has('admin') && key?.projects === null,
    /** The state of the service concerns all owners. */
    mayOperate: has('admin') && key?.projects === null && key.owner === null,
    owner: key?.owner ?? null,
  }
}
