import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  for (const name of ['dex', 'empty']) await service.post('/projects', { owner: 'acme', name })
  const records = Array.from({ length: 500 }, (_, index) => ({
    type: 'event',
    name: 'Transfer',
    time: '2026-01-01T00:00:00Z',
    attributes: { amount: index },
  }))
  await service.post('/ingest/acme/dex/batch', { records })
})
afterAll(() => service.stop())

describe('the state of the service', () => {
  it('tells version, engines and disk', async () => {
    const { status, body } = await service.get('/service')
    expect(status).toBe(200)
    expect(body.version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(body.engines).toMatchObject([
      { name: 'facts', product: 'chDB, embedded', isAnswering: true },
      { name: 'control', product: 'SQLite, embedded', isAnswering: true },
    ])
    expect(body.disk.totalBytes).toBeGreaterThan(body.disk.freeBytes)
    expect(body.disk.freeBytes).toBeGreaterThan(0)
    expect(body.disk.storedBytes).toBeGreaterThan(0)
  })

  it('is told to no key of one owner or of named projects: the disk is everybody’s (AU-2)', async () => {
    const limits = [{ owner: 'acme' }, { owner: 'acme', projects: ['acme/dex'] }]
    for (const limit of limits) {
      const { body } = await service.post('/keys', { name: 'limited', permissions: ['admin'], ...limit })
      const answer = await service.get('/service', { 'api-key': body.secret })
      expect(answer.status).toBe(403)
    }
    const { body } = await service.post('/keys', { name: 'reader', permissions: ['read'] })
    expect((await service.get('/service', { 'api-key': body.secret })).status).toBe(403)
  })

  it('tells what is stored of a project, and of that project alone', async () => {
    const { body } = await service.get('/projects/acme/dex/usage')
    expect(body.rows).toBeGreaterThanOrEqual(500)
    expect(body.bytes).toBeGreaterThan(0)
    expect((await service.get('/projects/acme/empty/usage')).body).toEqual({ rows: 0, bytes: 0 })
  })
})
