import { Type } from 'typebox'
import { ServiceError } from '../../platform/errors.ts'
import { admits } from '../../projects/access.ts'
import type { ApiKey, Project } from '../../projects/project.ts'
import { unknownProject, type Projects } from '../../projects/projects.ts'
import { UPLOAD_PARTS } from '../../projects/upload-store.ts'
import type { Uploads } from '../../projects/uploads.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

interface Dependencies {
  readonly uploads: Uploads
  readonly projects: Projects
}

/** The sender's names of fields; each is taken in either spelling. */
const text = (maxLength = 500) => Type.String({ maxLength, default: '' })

/**
 * `POST /processors/init_upload`, `PUT /processors/upload/{token}` and `POST /processors/finish_upload`, as the existing command line asks for them
 * (IN-4). The address of the file is known to the sender alone and needs no key.
 */
export function uploadRoutes({ uploads, projects }: Dependencies): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/processors/init_upload',
      permission: 'write',
      summary: 'Begins the upload of a file of a processor: 0 is its bundle, 1 what it was made of.',
      tag: 'management',
      body: Type.Object({
        projectSlug: Type.String({ description: '`owner/name`.' }),
        sequence: Type.Integer({ minimum: 0, maximum: 1, default: 0 }),
      }),
      answer: Type.Object({
        url: Type.String({ description: 'Where to PUT the file, within an hour.' }),
        replacingVersion: Type.Integer({ description: '0: no version ends by an upload.' }),
        multiVersion: Type.Boolean(),
        projectId: Type.String(),
      }),
      handle: async ({ body, key, headers }) => {
        const project = await projectOf(projects, key, body.projectSlug)
        const token = await uploads.begin(project, UPLOAD_PARTS[body.sequence] ?? 'bundle')
        const protocol = first(headers['x-forwarded-proto']) ?? 'http'
        return {
          url: `${protocol}://${first(headers['host']) ?? ''}/api/v1/processors/upload/${token}`,
          replacingVersion: 0,
          multiVersion: true,
          projectId: String(project.id),
        }
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/processors/upload/:token',
      permission: null,
      summary: 'Takes a file of an upload that was begun.',
      tag: 'management',
      params: Type.Object({ token: Type.String({ minLength: 20, maxLength: 200 }) }),
      body: 'raw',
      consumes: ['application/zip', 'application/octet-stream'],
      answer: Type.Object({ bytes: Type.Integer() }),
      handle: async ({ params, body }) => {
        await uploads.receive(params.token, body)
        return { bytes: body.byteLength }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/processors/finish_upload',
      permission: 'write',
      summary: 'Finishes an upload: the next processor version, pending unless it is the first (IN-4).',
      tag: 'management',
      body: Type.Object({
        projectSlug: Type.String({ description: '`owner/name`.' }),
        sdkVersion: text(),
        cliVersion: text(),
        sha256: text(),
        commitSha: text(),
        gitUrl: text(2000),
        continueFrom: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      answer: Type.Object({
        projectFullSlug: Type.String(),
        processorId: Type.String(),
        version: Type.Integer(),
      }),
      handle: async ({ body, key }) => {
        const project = await projectOf(projects, key, body.projectSlug)
        if (body.continueFrom) {
          throw new ServiceError('unimplemented', 'continueFrom is not offered: data of versions is separate')
        }
        const { sdkVersion, cliVersion, sha256, commitSha, gitUrl } = body
        const details = { sdkVersion, cliVersion, sha256, commitSha, gitUrl }
        const version = await uploads.finish(project, details)
        const address = `${project.owner}/${project.name}`
        return { projectFullSlug: address, processorId: `${project.id}-${version}`, version }
      },
    }),
    bundleRoute(uploads),
  ]
}

function bundleRoute(uploads: Uploads): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/projects/:owner/:project/versions/:version/:part',
    permission: 'read',
    summary: 'A file of an uploaded processor version, as it was uploaded: its bundle, or its source.',
    tag: 'management',
    params: Type.Object({
      version: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'Number of the version.' }),
      part: Type.Union([Type.Literal('bundle'), Type.Literal('source')]),
    }),
    answer: Type.String({ format: 'binary' }),
    handle: async ({ project, params, setHeader }) => {
      const body = await uploads.read(project, Number(params.version), params.part)
      setHeader('content-type', 'application/zip')
      setHeader(
        'content-disposition',
        `attachment; filename="${project.name}-${params.version}-${params.part}.zip"`,
      )
      return Buffer.from(body)
    },
  })
}

/** The project that a body names, by the rule that holds for one in the path (AU-3). */
async function projectOf(projects: Projects, key: ApiKey | null, slug: string): Promise<Project> {
  const [owner = '', name = ''] = slug.split('/')
  const project = await projects.find(owner, name)
  if (!key || !admits(key, 'write', { owner, name }, project)) {
    throw new ServiceError('permission_denied', `the API key has no write permission for ${owner}/${name}`)
  }
  return project ?? unknownProject(owner, name)
}

function first(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}
