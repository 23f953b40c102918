import { KeyCreated, KeyCreation, KeyList, type KeyView } from '@millrace/contract'
import { invalidArgument, ServiceError } from '../../platform/errors.ts'
import type { Keys } from '../../projects/keys.ts'
import type { ApiKey, Project } from '../../projects/project.ts'
import type { Projects } from '../../projects/projects.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { ofOwner } from './key-scope.ts'

export interface KeyRouteDependencies {
  readonly keys: Keys
  readonly projects: Projects
}

/** `GET` and `POST /keys`. A key of an owner manages the keys of that owner; one of the whole service manages all. */
export function keysRoutes({ keys, projects }: KeyRouteDependencies): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/keys',
      permission: 'admin',
      summary: 'Lists keys, revoked ones too, without their secrets.',
      tag: 'management',
      answer: KeyList,
      handle: async ({ key }) => {
        const manager = managerOfKeys(key)
        const listed = await keys.list(manager.owner)
        const known = await projects.list(manager.owner)
        return { keys: listed.map((each) => keyToWire(each, known)) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/keys',
      permission: 'admin',
      summary: 'Creates a key. Its secret is in this answer and never shown again.',
      tag: 'management',
      body: KeyCreation,
      answer: KeyCreated,
      status: 201,
      handle: async ({ body, key }) => {
        const manager = managerOfKeys(key)
        const owner = ofOwner(manager, body.owner ?? manager.owner)
        const known = await projects.list(owner)
        const created = await keys.create({
          name: body.name,
          owner,
          permissions: [...new Set(body.permissions)],
          projectIds: body.projects?.map((address, index) => projectId(known, owner, address, index)) ?? null,
          expiresAt: body.expiresAt === undefined ? null : instantFromWire(body.expiresAt),
        })
        return { key: keyToWire(created.key, known), secret: created.secret }
      },
    }),
  ]
}

/** The key itself, if it may manage keys at all: one that is limited to named projects could make itself wider. */
export function managerOfKeys(key: ApiKey | null): ApiKey {
  if (key && key.projectIds === null) return key
  throw new ServiceError('permission_denied', 'a key that is limited to named projects may not manage keys')
}

/** A key as management answers show it. Projects that were deleted have no address any more and are left out. */
export function keyToWire(key: ApiKey, projects: readonly Project[]): KeyView {
  return {
    id: String(key.id),
    name: key.name,
    owner: key.owner,
    permissions: [...key.permissions],
    projects:
      key.projectIds &&
      projects
        .filter((project) => key.projectIds?.includes(project.id))
        .map((project) => `${project.owner}/${project.name}`),
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: instantToWire(key.expiresAt),
    revokedAt: instantToWire(key.revokedAt),
    lastUsedAt: instantToWire(key.lastUsedAt),
  }
}

function projectId(known: readonly Project[], owner: string | null, address: string, index: number): number {
  const full = address.includes('/') ? address : `${owner}/${address}`
  const project = known.find((each) => `${each.owner}/${each.name}` === full)
  if (project) return project.id
  throw invalidArgument(
    `projects[${index}] must be owner/name of an existing project${owner === null ? '' : ` of ${owner}`}`,
  )
}

function instantFromWire(text: string): number {
  const instant = Date.parse(text)
  if (Number.isNaN(instant)) throw invalidArgument('expiresAt must be an instant as in RFC 3339')
  return instant
}

function instantToWire(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}
