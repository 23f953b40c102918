import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
  await service.post('/projects', { owner: 'other', name: 'q' })
})
afterAll(() => service.stop())

/** As the existing command line does it: JSON as text, and no key for the file. */
const ask = (path: string, body: object, key = service.administratorKey) =>
  service.post(`/processors/${path}`, JSON.stringify(body), {
    'content-type': 'text/plain;charset=UTF-8',
    'api-key': key,
  })
const put = (url: string, body: string) =>
  fetch(url, { method: 'PUT', headers: { 'content-type': 'application/zip' }, body })

async function upload(content: string) {
  for (const [sequence, part] of ['bundle', 'source'].entries()) {
    const { body } = await ask('init_upload', { project_slug: 'test/p', sdk_version: '3.4.2', sequence })
    expect(body).toMatchObject({ replacingVersion: 0, url: expect.stringMatching(/^http:/) })
    expect((await put(body.url, `${part} ${content}`)).status).toBe(200)
  }
  return ask('finish_upload', {
    project_slug: 'test/p',
    sdk_version: '3.4.2',
    cli_version: '2.30.6',
    sha256: 'abc',
    sequence: 1,
  })
}
const file = async (version: number, part: string) => {
  const answer = await service.get(`/projects/test/p/versions/${version}/${part}`)
  return [answer.status, answer.body]
}

describe('uploads of processors', () => {
  it('raise the version by one and keep their files; the first is active, others pending (IN-4)', async () => {
    const first = await upload('one')
    expect([first.status, first.body]).toEqual([
      200,
      { projectFullSlug: 'test/p', processorId: expect.any(String), version: 1 },
    ])
    expect((await upload('two')).body.version).toBe(2)
    const { body } = await service.get('/processors/test/p/status?version=ALL')
    expect(body.processors).toEqual([
      { version: 1, versionState: 'ACTIVE', sdkVersion: '3.4.2' },
      { version: 2, versionState: 'PENDING', sdkVersion: '3.4.2' },
    ])
    expect(await file(1, 'bundle')).toEqual([200, 'bundle one'])
    expect(await file(2, 'bundle')).toEqual([200, 'bundle two'])
    expect(await file(2, 'source')).toEqual([200, 'source two'])
    expect((await file(3, 'bundle'))[0]).toBe(404)
    const removed = await fetch(`${service.url}/api/v1/projects/test/p/versions/2`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    })
    expect(removed.status).toBe(200)
    expect((await file(2, 'bundle'))[0]).toBe(404)
  })

  it('are not finished without a bundle, and take a file under its own address only', async () => {
    const finished = await ask('finish_upload', { project_slug: 'test/p' })
    expect([finished.status, finished.body.message]).toEqual([400, expect.stringContaining('no bundle')])
    const { body } = await ask('init_upload', { project_slug: 'test/p', sequence: 0 })
    const guess = body.url.replace(/[^/]+$/, 'x'.repeat(32))
    expect((await put(guess, 'mine')).status).toBe(404)
  })

  it('need write for the project, told the same whether or not it exists (AU-3)', async () => {
    const { body: limited } = await service.post('/keys', {
      name: 'uploader',
      owner: 'test',
      permissions: ['write'],
      projects: ['test/p'],
    })
    const begin = (project: string) => ask('init_upload', { project_slug: project }, limited.secret)
    expect((await begin('test/p')).status).toBe(200)
    for (const project of ['other/q', 'other/none']) {
      const { status, body } = await begin(project)
      expect([status, body.message]).toEqual([403, `the API key has no write permission for ${project}`])
    }
    expect((await ask('init_upload', { project_slug: 'test/none' })).status).toBe(404)
  })

  it('are preceded by a login that tells whose the key is, and refuses what is none (AU-1)', async () => {
    const { body: key } = await service.post('/keys', { name: 'k', owner: 'test', permissions: ['write'] })
    const check = (secret: string) => service.get('/processors/check_key', { 'api-key': secret })
    expect(await check(key.secret)).toMatchObject({ status: 200, body: { username: 'test' } })
    expect((await check('nonsense')).status).toBe(401)
    expect((await service.get('/users')).body).toEqual({ username: 'administrator' })
  })
})
