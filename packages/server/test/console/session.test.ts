import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleSessions } from '../../src/http/console-session.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const MARK = { 'x-millrace-session': '1' }

async function signIn(key: string): Promise<{ status: number; cookie: string; setCookie: string }> {
  const answer = await fetch(`${service.url}/api/v1/session`, {
    method: 'POST',
    headers: MARK,
    body: JSON.stringify({ key }),
  })
  const setCookie = answer.headers.get('set-cookie') ?? ''
  return { status: answer.status, cookie: setCookie.split(';')[0] ?? '', setCookie }
}

function listProjects(headers: Record<string, string>): Promise<Response> {
  return fetch(`${service.url}/api/v1/projects`, { headers })
}

describe('a session of the console', () => {
  it('is an httpOnly cookie of this site that does not hold the key', async () => {
    const { status, setCookie } = await signIn(service.administratorKey)
    expect(status).toBe(201)
    expect(setCookie).toContain('HttpOnly')
    expect(setCookie).toContain('SameSite=Strict')
    expect(setCookie).not.toContain(service.administratorKey)
  })

  it('counts together with the header that no foreign page can send, and never without it', async () => {
    const { cookie } = await signIn(service.administratorKey)
    expect((await listProjects({ cookie, ...MARK })).status).toBe(200)
    expect((await listProjects({ cookie })).status).toBe(401)
  })

  it('is not made without that header: another site could sign a browser in', async () => {
    const answer = await fetch(`${service.url}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ key: service.administratorKey }),
    })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('is refused for an unknown key, and when the cookie was changed', async () => {
    expect((await signIn('not-a-key-at-all-but-long-enough')).status).toBe(401)
    const { cookie } = await signIn(service.administratorKey)
    const middle = Math.floor(cookie.length / 2)
    const changed = cookie.slice(0, middle) + (cookie[middle] === 'A' ? 'B' : 'A') + cookie.slice(middle + 1)
    expect((await listProjects({ cookie: changed, ...MARK })).status).toBe(401)
  })

  it('ends when its key is revoked', async () => {
    const { body } = await service.post('/keys', { name: 'guest', permissions: ['read'] })
    const { cookie } = await signIn(body.secret)
    expect((await listProjects({ cookie, ...MARK })).status).toBe(200)
    await fetch(`${service.url}/api/v1/keys/${body.key.id}`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    })
    expect((await listProjects({ cookie, ...MARK })).status).toBe(401)
  })

  it('ends after seven days', () => {
    const clock = createManualClock()
    const sessions = createConsoleSessions(new Uint8Array(32), clock)
    const cookie = sessions.open('a key', false).split(';')[0] ?? ''
    expect(sessions.secretOf({ cookie, ...MARK })).toBe('a key')
    clock.advance(7 * 86_400_000)
    expect(sessions.secretOf({ cookie, ...MARK })).toBeNull()
  })
})

describe('the pages of the console', () => {
  it('come with a policy that allows no inline script, under every address of the console', async () => {
    for (const path of ['/', '/sign-in', '/p/demo/erc20/metrics']) {
      const answer = await fetch(service.url + path)
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("script-src 'self'")
      expect(policy).not.toContain('unsafe')
      expect(answer.headers.get('content-type')).toContain('text/html')
    }
  })

  it('leave unknown addresses and other files to the API', async () => {
    expect((await fetch(`${service.url}/nothing`)).status).toBe(404)
    expect((await fetch(`${service.url}/assets/..%2Findex.html`)).status).toBe(404)
  })
})
