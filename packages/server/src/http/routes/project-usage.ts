import { ProjectUsage } from '@millrace/contract'
import type { StorageUsage } from '../../projects/storage-usage.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `GET /projects/{owner}/{project}/usage`. */
export function projectUsageRoute(usage: StorageUsage): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/projects/:owner/:project/usage',
    permission: 'read',
    summary: 'What is stored of a project, in all its versions.',
    tag: 'management',
    answer: ProjectUsage,
    handle: ({ project }): Promise<ProjectUsage> => usage.ofProject(project.id),
  })
}
