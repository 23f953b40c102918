import { ProjectCreation, ProjectList, ProjectView } from '@millrace/contract'
import { ServiceError } from '../../platform/errors.ts'
import type { ApiKey, Project } from '../../projects/project.ts'
import type { Projects } from '../../projects/projects.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { ofOwner } from './key-scope.ts'

/** `GET` and `POST /projects`. */
export function projectsRoutes(projects: Projects): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/projects',
      permission: 'read',
      summary: 'Lists the projects that the key covers.',
      tag: 'management',
      answer: ProjectList,
      handle: async ({ key }) => {
        const all = await projects.list(key?.owner ?? null)
        return { projects: all.filter((project) => covers(key, project)).map(projectToWire) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/projects',
      permission: 'admin',
      summary: 'Creates a project.',
      tag: 'management',
      body: ProjectCreation,
      answer: ProjectView,
      status: 201,
      handle: async ({ body, key }) => {
        if (key?.projectIds) {
          throw new ServiceError(
            'permission_denied',
            'a key that is limited to named projects may not create others',
          )
        }
        const created = await projects.create({
          owner: ofOwner(key, body.owner),
          name: body.name,
          type: body.type ?? 'processor',
          isPublic: body.isPublic ?? false,
        })
        return projectToWire(created)
      },
    }),
  ]
}

/** A project as management answers show it. */
export function projectToWire({ owner, name, type, isPublic, activeVersion }: Project): ProjectView {
  return { owner, name, type, isPublic, activeVersion }
}

function covers(key: ApiKey | null, project: Project): boolean {
  return !key?.projectIds || key.projectIds.includes(project.id)
}
