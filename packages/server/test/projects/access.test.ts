import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeyStore } from '../../src/database/key-store.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createAccess, type Access, type AccessRequest } from '../../src/projects/access.ts'
import { createKeys, type Keys } from '../../src/projects/keys.ts'
import { PERMISSIONS, type Permission } from '../../src/projects/project.ts'
import { createProjects, type Projects } from '../../src/projects/projects.ts'
import { createSecret } from '../../src/projects/secret.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock } from '../support/manual-clock.ts'

const clock = createManualClock()

const KEYS = {
  none: null,
  unknown: null,
  administrator: { owner: null, permissions: PERMISSIONS },
  owner: { owner: 'demo', permissions: PERMISSIONS },
  reader: { owner: 'demo', permissions: ['read'] },
  narrow: { owner: 'demo', permissions: PERMISSIONS, isNarrow: true },
  stranger: { owner: 'stranger', permissions: PERMISSIONS },
} as const
type KeyName = keyof typeof KEYS

type Outcome = 'admitted' | 'unauthenticated' | 'permission_denied' | 'not_found'

/** Key, permission → the outcomes at demo/own, demo/other, demo/open (public) and demo/absent (AU-3). */
const TABLE: readonly (readonly [KeyName, Permission, readonly [Outcome, Outcome, Outcome, Outcome]])[] = [
  ['none', 'read', ['unauthenticated', 'unauthenticated', 'admitted', 'unauthenticated']],
  ['none', 'write', ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated']],
  ['unknown', 'read', ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated']],
  ['administrator', 'read', ['admitted', 'admitted', 'admitted', 'not_found']],
  ['administrator', 'admin', ['admitted', 'admitted', 'admitted', 'not_found']],
  ['owner', 'write', ['admitted', 'admitted', 'admitted', 'not_found']],
  ['reader', 'read', ['admitted', 'admitted', 'admitted', 'not_found']],
  ['reader', 'write', ['permission_denied', 'permission_denied', 'permission_denied', 'permission_denied']],
  ['narrow', 'read', ['admitted', 'permission_denied', 'admitted', 'permission_denied']],
  ['narrow', 'write', ['admitted', 'permission_denied', 'permission_denied', 'permission_denied']],
  ['stranger', 'read', ['permission_denied', 'permission_denied', 'admitted', 'permission_denied']],
  ['stranger', 'admin', ['permission_denied', 'permission_denied', 'permission_denied', 'permission_denied']],
]

describe.each(controlDatabases)('access on $name', ({ open }) => {
  let database: TestDatabase
  let access: Access
  let keys: Keys
  let projects: Projects
  const secrets = new Map<KeyName, string | null>([
    ['none', null],
    ['unknown', createSecret()],
  ])

  beforeAll(async () => {
    database = await open()
    projects = createProjects({
      store: createProjectStore(database.db),
      clock,
      eraseData: () => Promise.resolve(),
      eraseVersion: () => Promise.resolve(),
    })
    keys = createKeys({ store: createKeyStore(database.db), clock, log: silentLogger })
    access = createAccess({ keys, projects })
    const project = { owner: 'demo', type: 'processor', isPublic: false } as const
    const own = await projects.create({ ...project, name: 'own' })
    await projects.create({ ...project, name: 'other' })
    await projects.create({ ...project, name: 'open', isPublic: true })
    for (const [name, key] of Object.entries(KEYS)) {
      if (!key) continue
      const projectIds = 'isNarrow' in key ? [own.id] : null
      const { secret } = await keys.create({ ...key, name, projectIds, expiresAt: null })
      secrets.set(name as KeyName, secret)
    }
  })
  afterAll(() => database.close())

  const requestOf = (key: KeyName, permission: Permission | null, name: string | null): AccessRequest => ({
    secret: secrets.get(key) ?? null,
    permission,
    project: name === null ? null : { owner: 'demo', name },
    isPublicReadable: permission === 'read',
  })
  const check = (key: KeyName, permission: Permission | null, name: string | null) =>
    access.check(requestOf(key, permission, name))

  it.each(TABLE)('answers %s asking for %s with %j (AU-3)', async (key, permission, expected) => {
    const outcomes = await Promise.all(
      ['own', 'other', 'open', 'absent'].map((name) =>
        check(key, permission, name).then(
          () => 'admitted',
          (error: unknown) => (error as { code: string }).code,
        ),
      ),
    )
    expect(outcomes).toEqual(expected)
  })

  it.each(TABLE)(
    'recalls %s asking for %s where it was admitted, and nobody else (AU-3)',
    async (key, permission, expected) => {
      const outcomes: boolean[] = []
      for (const name of ['own', 'other', 'open', 'absent']) {
        const request = requestOf(key, permission, name)
        const admitted = await access.check(request).catch(() => null)
        expect(access.recall(request)).toEqual(admitted)
        outcomes.push(access.recall(request) !== null)
        clock.advance(1000)
        expect(access.recall(request)).toBeNull()
      }
      expect(outcomes).toEqual(expected.map((outcome) => outcome === 'admitted'))
    },
  )

  it('recalls no key that has been revoked, and no project that was closed (AU-1, AU-3)', async () => {
    const { key, secret } = await keys.create({
      owner: 'demo',
      name: 'brief',
      permissions: ['read'],
      projectIds: null,
      expiresAt: clock.now() + 500,
    })
    const request = { ...requestOf('none', 'read', 'own'), secret }
    await access.check(request)
    expect(access.recall(request)).not.toBeNull()
    clock.advance(500)
    expect(access.recall(request)).toBeNull()
    const open = requestOf('none', 'read', 'open')
    const { project } = await access.check(open)
    expect(access.recall(open)).not.toBeNull()
    if (project) await projects.setPublic(project, true)
    expect(access.recall(open)).toBeNull()
    await access.check(requestOf('reader', 'read', 'own'))
    await keys.revoke(key.id)
    expect(access.recall(requestOf('reader', 'read', 'own'))).toBeNull()
  })

  it('refuses in the same words whether or not the project exists (AU-3)', async () => {
    const refusals = await Promise.allSettled(
      ['own', 'absent'].map((name) => check('stranger', 'read', name)),
    )
    const [own, absent] = refusals.map((refusal) => String((refusal as PromiseRejectedResult).reason))
    expect(own).toContain('demo/own')
    expect(absent).toBe(own?.replace('demo/own', 'demo/absent'))
  })

  it('hands over the key and the project', async () => {
    const admitted = await check('reader', 'read', 'own')
    expect(admitted.key?.name).toBe('reader')
    expect(admitted.project?.name).toBe('own')
    expect(await check('none', 'read', 'open')).toMatchObject({ key: null, project: { name: 'open' } })
  })

  it('asks for no more than the permission where no project is addressed', async () => {
    expect((await check('reader', 'read', null)).project).toBeNull()
    await expect(check('reader', 'admin', null)).rejects.toMatchObject({ code: 'permission_denied' })
    await expect(check('none', 'read', null)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('needs no key where no permission is asked for', async () => {
    expect((await check('none', null, 'own')).project?.name).toBe('own')
    await expect(check('none', null, 'absent')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('sees at once that a project was made public, closed or deleted', async () => {
    const project = await projects.create({
      owner: 'demo',
      name: 'brief',
      type: 'processor',
      isPublic: false,
    })
    await expect(check('none', 'read', 'brief')).rejects.toMatchObject({ code: 'unauthenticated' })
    await projects.setPublic(project, true)
    await check('none', 'read', 'brief')
    await projects.setPublic(project, false)
    await expect(check('none', 'read', 'brief')).rejects.toMatchObject({ code: 'unauthenticated' })
    await projects.remove(project)
    await expect(check('owner', 'read', 'brief')).rejects.toMatchObject({ code: 'not_found' })
  })
})
