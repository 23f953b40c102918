import { ProjectDetails, ProjectUpdate, ProjectView } from '@millrace/contract'
import type { Projects } from '../../projects/projects.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { projectToWire } from './projects.ts'
import { versionToWire } from './versions.ts'

/** `GET`, `PATCH` and `DELETE /projects/{owner}/{project}`. */
export function projectRoutes(projects: Projects): readonly AnyRoute[] {
  const path = '/projects/:owner/:project'
  return [
    defineRoute({
      method: 'GET',
      path,
      permission: 'read',
      isPublicReadable: true,
      summary: 'A project and its processor versions.',
      tag: 'management',
      answer: ProjectDetails,
      handle: async ({ project }) => ({
        ...projectToWire(project),
        versions: (await projects.versions(project.id)).map(versionToWire),
      }),
    }),
    defineRoute({
      method: 'PATCH',
      path,
      permission: 'admin',
      summary: 'Changes the settings of a project.',
      tag: 'management',
      body: ProjectUpdate,
      answer: ProjectView,
      handle: async ({ project, body }) =>
        projectToWire(
          body.isPublic === undefined ? project : await projects.setPublic(project, body.isPublic),
        ),
    }),
    defineRoute({
      method: 'DELETE',
      path,
      permission: 'admin',
      summary:
        'Deletes a project with its data, channels and undelivered messages. Answers with what it was.',
      tag: 'management',
      answer: ProjectView,
      handle: async ({ project }) => {
        await projects.remove(project)
        return projectToWire(project)
      },
    }),
  ]
}
