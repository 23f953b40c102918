import { ServiceError } from '../platform/errors.ts'
import type { Keys } from './keys.ts'
import type { ApiKey, Permission, Project } from './project.ts'
import { unknownProject, type Projects } from './projects.ts'

/** What is asked of the access check. */
export interface AccessRequest {
  /** As presented; null when none was. */
  readonly secret: string | null
  /** Null needs no key. */
  readonly permission: Permission | null
  /** The project addressed; null for what concerns the whole service. */
  readonly project: { readonly owner: string; readonly name: string } | null
  readonly isPublicReadable: boolean
}

/** Who came, and to which project. */
export interface Admitted {
  readonly key: ApiKey | null
  readonly project: Project | null
}

/** Decides who may do what (AU-3). */
export interface Access {
  check(request: AccessRequest): Promise<Admitted>
  /** The same without a wait, of what was looked up a moment ago; null where something has to be looked up, and for who is refused. */
  recall(request: AccessRequest): Admitted | null
}

/**
 * The rule of AU-3. `unauthenticated` for a missing, unknown, revoked or expired key; `permission_denied` for a key
 * without the permission for that project, said in the same words whether or not the project exists; `not_found` only
 * for those who would be admitted. A public project is readable without a key, and so with any valid one.
 */
export function createAccess({
  keys,
  projects,
}: {
  readonly keys: Pick<Keys, 'authenticate' | 'recall'>
  readonly projects: Pick<Projects, 'find' | 'recall'>
}): Access {
  return {
    check: async (request) => {
      const { secret, permission, project: address } = request
      const key = secret !== null && permission !== null ? await keys.authenticate(secret) : null
      const project = address && (await projects.find(address.owner, address.name))
      const refusal = refuse(request, key, project)
      if (refusal) throw refusal
      if (address && !project) unknownProject(address.owner, address.name)
      return { key, project }
    },

    recall: (request) => {
      const { secret, permission, project: address } = request
      const isKeyNeeded = secret !== null && permission !== null
      const key = isKeyNeeded ? keys.recall(secret) : null
      const project = address && projects.recall(address.owner, address.name)
      const isKnown = (key !== null || !isKeyNeeded) && (project !== null || !address)
      return isKnown && !refuse(request, key, project) ? { key, project } : null
    },
  }
}

/** Why a request is refused; null where it is not. */
function refuse(
  { permission, project: address, isPublicReadable }: AccessRequest,
  key: ApiKey | null,
  project: Project | null,
): ServiceError | null {
  if (permission === null || (isPublicReadable && project?.isPublic === true)) return null
  if (key === null) {
    return new ServiceError(
      'unauthenticated',
      'an API key is required: header api-key, or Authorization: Bearer',
    )
  }
  if (admits(key, permission, address, project)) return null
  const where = address ? ` for ${address.owner}/${address.name}` : ''
  return new ServiceError('permission_denied', `the API key has no ${permission} permission${where}`)
}

/** Whether a key covers a project. A key of named projects covers no other, and none that does not exist. */
export function admits(
  key: ApiKey,
  permission: Permission,
  address: AccessRequest['project'],
  project: Project | null,
): boolean {
  if (!key.permissions.includes(permission)) return false
  if (!address) return true
  if (key.owner !== null && key.owner !== address.owner) return false
  return key.projectIds === null || (project !== null && key.projectIds.includes(project.id))
}
