import { Type } from 'typebox'
import type { ApiKey } from '../../projects/project.ts'
import type { Projects } from '../../projects/projects.ts'
import type { Uploads } from '../../projects/uploads.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/**
 * What the existing command line asks beside an upload: `GET /processors/check_key` to log in, `GET /users` for the owner of a project
 * that is named without one, and `GET /processors/{owner}/{project}/status`.
 */
export function uploaderRoutes({
  uploads,
  projects,
}: {
  readonly uploads: Uploads
  readonly projects: Projects
}): readonly AnyRoute[] {
  return [
    userRoute('/processors/check_key', 'Whether the key may upload, and whose it is.'),
    userRoute('/users', 'Whose the key is.'),
    defineRoute({
      method: 'GET',
      path: '/processors/:owner/:project/status',
      permission: 'read',
      summary: 'The versions of a processor, as the existing command line reads them.',
      tag: 'management',
      answer: Type.Object({
        processors: Type.Array(
          Type.Object({ version: Type.Integer(), versionState: Type.String(), sdkVersion: Type.String() }),
        ),
      }),
      handle: async ({ project }) => {
        const details = await uploads.details(project)
        return {
          processors: (await projects.versions(project.id)).map(({ number, state }) => ({
            version: number,
            versionState: state.toUpperCase(),
            sdkVersion: details.get(number)?.sdkVersion ?? '',
          })),
        }
      },
    }),
  ]
}

function userRoute(path: string, summary: string): AnyRoute {
  return defineRoute({
    method: 'GET',
    path,
    permission: 'write',
    summary,
    tag: 'management',
    answer: Type.Object({ username: Type.String() }),
    handle: ({ key }) => ({ username: nameOf(key) }),
  })
}

/** A key of the whole service belongs to nobody and goes by its own name. */
function nameOf(key: ApiKey | null): string {
  return key?.owner ?? key?.name ?? ''
}
