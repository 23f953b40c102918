import { VersionList, VersionView } from '@millrace/contract'
import { Type } from 'typebox'
import type { ProcessorVersion } from '../../projects/project-store.ts'
import type { Project } from '../../projects/project.ts'
import { unknownVersion, type Projects } from '../../projects/projects.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

const Params = Type.Object({
  version: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'Number of the version.' }),
})

/** Processor versions of a project: `GET` and `POST …/versions`, `POST …/versions/{version}/activate`, `DELETE …/versions/{version}` (IN-4). */
export function versionsRoutes(projects: Projects): readonly AnyRoute[] {
  const path = '/projects/:owner/:project/versions'

  async function find(project: Project, number: number): Promise<VersionView> {
    const version = (await projects.versions(project.id)).find((each) => each.number === number)
    if (!version) throw unknownVersion(project, number)
    return versionToWire(version)
  }

  return [
    defineRoute({
      method: 'GET',
      path,
      permission: 'read',
      isPublicReadable: true,
      summary: 'The processor versions of a project, oldest first.',
      tag: 'management',
      answer: VersionList,
      handle: async ({ project }) => ({
        versions: (await projects.versions(project.id)).map(versionToWire),
      }),
    }),
    defineRoute({
      method: 'POST',
      path,
      permission: 'write',
      summary: 'Makes the next processor version, which takes data at once.',
      description:
        'Its number is the previous + 1. It is pending until it is activated; the first version of a project is active at once.',
      tag: 'management',
      answer: VersionView,
      status: 201,
      handle: async ({ project }) => versionToWire(await projects.addVersion(project)),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:version/activate`,
      permission: 'admin',
      summary: 'Makes a version the one that queries and ingest use by default.',
      description: 'The version that was active becomes pending and keeps its data.',
      tag: 'management',
      params: Params,
      answer: VersionView,
      handle: async ({ project, params }) => {
        await projects.activateVersion(project, Number(params.version))
        return find(project, Number(params.version))
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:version`,
      permission: 'admin',
      summary: 'Deletes a version that is not active, with its data. Answers with what it was.',
      tag: 'management',
      params: Params,
      answer: VersionView,
      handle: async ({ project, params }) => {
        const version = await find(project, Number(params.version))
        await projects.removeVersion(project, version.number)
        return version
      },
    }),
  ]
}

/** A version as management answers show it. */
export function versionToWire({ number, state, createdAt }: ProcessorVersion): VersionView {
  return { number, state, createdAt: new Date(createdAt).toISOString() }
}
