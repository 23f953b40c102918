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
  readonly keys: Keys
  readonly projects: Projects
}): Access {
  return {
    check: async ({ secret, permission, project: address, isPublicReadable }) => {
      const key = secret !== null && permission !== null ? await keys.authenticate(secret) : null
      const project = address && (await projects.find(address.owner, address.name))
      const isOpen = permission === null || (isPublicReadable && project?.isPublic === true)
      if (!isOpen && key === null) {
        throw new ServiceError(
          'unauthenticated',
          'an API key is required: header api-key, or Authorization: Bearer',
        )
      }
      if (!isOpen && key && !admits(key, permission, address, project)) {
        const where = address ? ` for ${address.owner}/${address.name}` : ''
        throw new ServiceError('permission_denied', `the API key has no ${permission} permission${where}`)
      }
      if (address && !project) unknownProject(address.owner, address.name)
      return { key, project }
    },
  }
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
