import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeyStore } from '../../src/database/key-store.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import { buildApp } from '../../src/http/app.ts'
import { keyRoutes } from '../../src/http/routes/key.ts'
import { keysRoutes } from '../../src/http/routes/keys.ts'
import { projectRoutes } from '../../src/http/routes/project.ts'
import { projectsRoutes } from '../../src/http/routes/projects.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createAccess } from '../../src/projects/access.ts'
import { createKeys } from '../../src/projects/keys.ts'
import { createProjects } from '../../src/projects/projects.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock } from '../support/manual-clock.ts'

describe.each(controlDatabases)('management over HTTP on $name', ({ open }) => {
  let database: TestDatabase
  let app: FastifyInstance
  let administrator: string
  let ownerAdministrator: string
  const erased: string[] = []

  beforeAll(async () => {
    database = await open()
    const clock = createManualClock()
    const projects = createProjects({
      store: createProjectStore(database.db),
      clock,
      eraseData: (project) => Promise.resolve(void erased.push(project.name)),
      eraseVersion: () => Promise.resolve(),
    })
    const keys = createKeys({ store: createKeyStore(database.db), clock, log: silentLogger })
    app = await buildApp({
      log: silentLogger,
      access: createAccess({ keys, projects }),
      routes: [
        ...projectsRoutes(projects),
        ...projectRoutes(projects),
        ...keysRoutes({ keys, projects }),
        ...keyRoutes({ keys, projects }),
      ],
      bodyLimitBytes: 10_000,
      checkReady: () => Promise.resolve(),
    })
    administrator = (await keys.ensureAdministratorKey({})) ?? ''
    for (const [owner, name] of [
      ['acme', 'dex'],
      ['acme', 'bridge'],
      ['other', 'dex'],
    ]) {
      await call('POST', '/projects', { owner, name })
    }
    const created = await call('POST', '/keys', {
      name: 'acme',
      owner: 'acme',
      permissions: ['admin', 'read'],
    })
    ownerAdministrator = created.body['secret'] as string
  })
  afterAll(async () => {
    await app.close()
    await database.close()
  })

  async function call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    secret: string = administrator,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { 'api-key': secret },
      ...(body ? { payload: body } : {}),
    })
    return { status: answer.statusCode, body: answer.json() }
  }

  it('creates, shows, changes and deletes a project', async () => {
    const erc20 = { owner: 'demo', name: 'erc20', type: 'processor', isPublic: false, activeVersion: null }
    expect(await call('POST', '/projects', { owner: 'demo', name: 'erc20' })).toEqual({
      status: 201,
      body: erc20,
    })
    expect((await call('POST', '/projects', { owner: 'demo', name: 'erc20' })).status).toBe(409)
    expect((await call('GET', '/projects/demo/erc20')).body).toEqual({ ...erc20, versions: [] })
    const updated = await call('PATCH', '/projects/demo/erc20', { is_public: true })
    expect(updated.body).toEqual({ ...erc20, isPublic: true })
    const anonymous = await app.inject({ url: '/v1/projects/demo/erc20' })
    expect(anonymous.statusCode).toBe(200)
    expect((await call('DELETE', '/projects/demo/erc20')).status).toBe(200)
    expect(erased).toEqual(['erc20'])
    expect((await call('GET', '/projects/demo/erc20')).status).toBe(404)
  })

  it('names the field at fault', async () => {
    expect(await call('POST', '/projects', { owner: 'a b', name: 'x' })).toMatchObject({
      status: 400,
      body: { code: 3, message: expect.stringContaining('owner must be') as string },
    })
    const refused = await call('POST', '/keys', { name: 'k', permissions: ['read'], projects: ['acme/none'] })
    expect(refused.body['message']).toContain('projects[0]')
    expect((await call('POST', '/keys', { name: 'k', permissions: [] })).status).toBe(400)
    expect((await call('POST', '/keys', { name: 'k', permissions: ['root'] })).status).toBe(400)
    const past = { name: 'k', permissions: ['read'], expiresAt: '2020-01-01T00:00:00Z' }
    expect((await call('POST', '/keys', past)).body['message']).toContain('expiresAt')
    expect((await call('DELETE', '/keys/x')).status).toBe(400)
    expect((await call('DELETE', '/keys/999')).status).toBe(404)
  })

  it('shows a secret once, in the answer that made it (AU-1)', async () => {
    const created = await call('POST', '/keys', {
      name: 'dashboard',
      owner: 'acme',
      permissions: ['read'],
      projects: ['dex'],
      expires_at: '2026-06-01T00:00:00Z',
    })
    const secret = created.body['secret'] as string
    expect(created.body['key']).toMatchObject({
      name: 'dashboard',
      owner: 'acme',
      permissions: ['read'],
      projects: ['acme/dex'],
      expiresAt: '2026-06-01T00:00:00.000Z',
      revokedAt: null,
    })
    const list = await call('GET', '/keys')
    expect(JSON.stringify(list.body)).toContain('dashboard')
    expect(JSON.stringify(list.body)).not.toContain(secret)
    expect((await call('GET', '/projects', undefined, secret)).body).toMatchObject({
      projects: [{ owner: 'acme', name: 'dex' }],
    })
    expect((await call('GET', '/projects/acme/bridge', undefined, secret)).status).toBe(403)
    const { id } = created.body['key'] as { id: string }
    expect((await call('DELETE', `/keys/${id}`)).status).toBe(200)
    expect((await call('GET', '/projects', undefined, secret)).status).toBe(401)
  })

  it('lets the administrator of an owner manage that owner and nothing else (AU-2)', async () => {
    const as = (...[method, path, body]: Parameters<typeof call>) =>
      call(method, path, body, ownerAdministrator)
    expect((await as('GET', '/projects')).body['projects']).toHaveLength(2)
    expect((await as('POST', '/projects', { owner: 'acme', name: 'new-one' })).status).toBe(201)
    expect((await as('POST', '/projects', { owner: 'other', name: 'new-one' })).status).toBe(403)
    expect((await as('DELETE', '/projects/other/dex')).status).toBe(403)
    expect((await as('DELETE', '/projects/other/none')).status).toBe(403)
    const own = await as('POST', '/keys', { name: 'k', permissions: ['read'] })
    expect(own.body['key']).toMatchObject({ owner: 'acme' })
    const foreign = { name: 'k', owner: 'other', permissions: ['read'] }
    expect((await as('POST', '/keys', foreign)).status).toBe(403)
    const borrowed = { name: 'k', permissions: ['read'], projects: ['other/dex'] }
    expect((await as('POST', '/keys', borrowed)).status).toBe(400)
    const listed = (await as('GET', '/keys')).body['keys'] as { owner: string }[]
    expect(new Set(listed.map((key) => key.owner))).toEqual(new Set(['acme']))
    expect((await as('DELETE', '/keys/1')).status).toBe(404)
    expect((await call('GET', '/projects')).status).toBe(200)
  })

  it('lets no key that is limited to named projects make a wider one', async () => {
    const narrow = await call('POST', '/keys', {
      name: 'narrow',
      owner: 'acme',
      permissions: ['admin'],
      projects: ['acme/dex'],
    })
    const secret = narrow.body['secret'] as string
    expect((await call('POST', '/keys', { name: 'k', permissions: ['read'] }, secret)).status).toBe(403)
    expect((await call('GET', '/keys', undefined, secret)).status).toBe(403)
    expect((await call('DELETE', '/keys/1', undefined, secret)).status).toBe(403)
    expect((await call('POST', '/projects', { owner: 'acme', name: 'y' }, secret)).status).toBe(403)
    expect((await call('PATCH', '/projects/acme/dex', { isPublic: false }, secret)).status).toBe(200)
  })
})
