import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
const secrets: Record<string, string> = {}

beforeAll(async () => {
  service = await startTestService()
  for (const name of ['alpha', 'beta']) await service.post('/projects', { owner: 'acme', name })
  for (const permission of ['read', 'write', 'admin']) {
    const { body } = await service.post('/keys', {
      name: permission,
      owner: 'acme',
      permissions: [permission],
      projects: ['acme/alpha'],
    })
    secrets[permission] = body.secret
  }
})

afterAll(() => service.stop())

const query = JSON.stringify({ queries: [], timeRange: { start: 'now-1h', end: 'now', step: 60 } })

async function status(key: string | undefined, method: string, path: string, body?: string): Promise<number> {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: key === undefined ? {} : { 'api-key': key },
    ...(body === undefined ? {} : { body }),
  })
  await answer.arrayBuffer()
  return answer.status
}

describe('keys over HTTP', () => {
  it('open what they were given for and nothing else (AU-2, AU-3)', async () => {
    const calls = {
      read: ['POST', '/metrics/acme/alpha/query_range', query],
      write: ['POST', '/ingest/acme/alpha/batch', '{"records":[]}'],
      admin: ['GET', '/webhook/channels/acme/alpha'],
    } as const
    for (const [needed, [method, path, body]] of Object.entries(calls)) {
      for (const held of Object.keys(calls)) {
        const got = await status(secrets[held], method, path, body)
        expect([held, needed, got]).toEqual([held, needed, held === needed ? 200 : 403])
      }
      expect(await status(undefined, method, path, body)).toBe(401)
      expect(await status('mr_unknown', method, path, body)).toBe(401)
      expect(await status(service.administratorKey, method, path, body)).toBe(200)
    }
  })

  it('learn nothing of other projects: 403 whether or not they exist; 404 for those who may know (AU-3)', async () => {
    const path = (project: string) => `/metrics/acme/${project}/query_range`
    expect(await status(secrets['read'], 'POST', path('beta'), query)).toBe(403)
    expect(await status(secrets['read'], 'POST', path('gamma'), query)).toBe(403)
    expect(await status(service.administratorKey, 'POST', path('gamma'), query)).toBe(404)
  })

  it('are shown once, listed without their secret, and revoked at once (AU-1)', async () => {
    const { body } = await service.post('/keys', { name: 'short', owner: 'acme', permissions: ['read'] })
    expect(body.secret).toMatch(/^mr_[0-9A-Za-z]{30,}$/)
    const list = await service.get('/keys')
    expect(JSON.stringify(list.body)).not.toContain(body.secret)
    const path = '/metrics/acme/alpha/query_range'
    expect(await status(body.secret, 'POST', path, query)).toBe(200)
    const id = body.id ?? body.key?.id
    expect(await status(service.administratorKey, 'DELETE', `/keys/${id}`)).toBe(200)
    expect(await status(body.secret, 'POST', path, query)).toBe(401)
  })

  it('are not needed to read a public project (AU-3)', async () => {
    await service.post('/projects', { owner: 'acme', name: 'open', isPublic: true })
    expect(await status(undefined, 'POST', '/metrics/acme/open/query_range', query)).toBe(200)
    expect(await status(undefined, 'POST', '/ingest/acme/open/batch', '{"records":[]}')).toBe(401)
  })
})
