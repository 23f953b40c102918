import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Project } from './project.ts'
import type { Projects } from './projects.ts'
import { hashSecret } from './secret.ts'
import type { UploadDetails, UploadPart, UploadStore } from './upload-store.ts'

/** Uploads of processors: begin a file, receive it under the token that only the beginner knows, finish (IN-4). */
export interface Uploads {
  /** The token under which the file may be presented, for an hour. */
  begin(project: Project, part: UploadPart): Promise<string>
  /** Throws `not_found` when no file is expected under this token. */
  receive(token: string, body: Uint8Array): Promise<void>
  /** The next version, with the files that were received. Throws `failed_precondition` without a bundle. */
  finish(project: Project, details: UploadDetails): Promise<number>
  /** Throws `not_found` when the version has no such file. */
  read(project: Project, version: number, part: UploadPart): Promise<Uint8Array>
  details(project: Project): Promise<ReadonlyMap<number, UploadDetails>>
}

interface UploadsOptions {
  readonly store: UploadStore
  readonly projects: Pick<Projects, 'addVersion'>
  readonly clock: Clock
  /** Makes a token nobody can guess. */
  readonly createToken: () => string
}

const EXPECTED_FOR_MS = 3_600_000

export function createUploads({ store, projects, clock, createToken }: UploadsOptions): Uploads {
  return {
    begin: async (project, part) => {
      const token = createToken()
      const now = clock.now()
      await store.expect(
        { projectId: project.id, part, tokenHash: hashSecret(token) },
        now,
        now - EXPECTED_FOR_MS,
      )
      return token
    },
    receive: async (token, body) => {
      if (await store.receive(hashSecret(token), body)) return
      throw new ServiceError('not_found', 'no file is expected here, or no longer; begin the upload again')
    },
    finish: async (project, details) => {
      if (!(await store.hasBundle(project.id))) {
        throw new ServiceError('failed_precondition', 'no bundle was received; begin the upload again')
      }
      const { number } = await projects.addVersion(project)
      await store.finish(project.id, number, details)
      return number
    },
    read: async (project, version, part) => {
      const body = await store.read(project.id, version, part)
      if (body) return body
      throw new ServiceError('not_found', `version ${version} has no ${part} that was uploaded`)
    },
    details: (project) => store.details(project.id),
  }
}
