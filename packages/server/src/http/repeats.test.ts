import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Project } from '../projects/project.ts'
import type { AnsweredRequest } from './exposition/request-counts.ts'
import { createRepeats, type ReadyAnswer, type Repeats } from './repeats.ts'

const PROJECT: Project = {
  id: 1,
  owner: 'demo',
  name: 'erc20',
  type: 'processor',
  isPublic: false,
  activeVersion: 1,
}
const ACCESS = {
  secret: 'the key',
  permission: 'read',
  project: { owner: 'demo', name: 'erc20' },
  isPublicReadable: true,
} as const
const READY: ReadyAnswer = { headers: ['etag', '"a"'], bytes: Buffer.from('again') }

let server: Server
let repeats: Repeats
let url: string
let project: Project
let isAdmitted: boolean
let ready: ReadyAnswer | null
/** The bodies of requests that went the whole way. */
let whole: string[]
let answered: AnsweredRequest[]

beforeEach(async () => {
  project = PROJECT
  isAdmitted = true
  ready = READY
  whole = []
  answered = []
  repeats = createRepeats({
    access: {
      check: () => Promise.reject(new Error('is asked by the application alone')),
      recall: () => (isAdmitted ? { key: null, project } : null),
    },
    noteAnswered: (_requestId, request) => answered.push(request),
  })
  server = createServer(
    repeats.listen((request, response) => {
      void answerWhole(request).then((text) => response.end(text))
    }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => server.close())

async function answerWhole(request: IncomingMessage): Promise<string> {
  const body = await buffer(repeats.takeBody(request) ?? request)
  whole.push(body.toString())
  const again = () => ready
  repeats.note(request, body, { route: '/query', access: ACCESS, project: PROJECT, again })
  return 'whole'
}

async function ask(headers: Readonly<Record<string, string>> = {}, body = '{"query": "a"}') {
  const answer = await fetch(`${url}/query`, {
    method: 'POST',
    body,
    headers: { 'api-key': 'the key', 'accept-encoding': 'gzip', ...headers },
  })
  return { text: await answer.text(), headers: answer.headers }
}

describe('exact repeats', () => {
  it('are answered without going the whole way', async () => {
    expect((await ask()).text).toBe('whole')
    const { text, headers } = await ask()
    expect(text).toBe('again')
    expect(headers.get('etag')).toBe('"a"')
    expect(headers.get('content-length')).toBe('5')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(whole).toHaveLength(1)
    expect(answered).toMatchObject([{ method: 'POST', route: '/query', status: 200 }])
  })

  it.each([
    ['another key', { 'api-key': 'another' }],
    ['another encoding', { 'accept-encoding': 'br' }],
    ['a condition', { 'if-none-match': '"a"' }],
    ['another form of the body', { 'content-encoding': 'gzip' }],
    ['another body', {}, '{"query": "b"}'],
    ['a body that is long', {}, `{"query": "${'a'.repeat(10_000)}"}`],
  ])('are not those with %s', async (_what, headers, body?: string) => {
    await ask()
    expect((await ask(headers as Record<string, string>, body)).text).toBe('whole')
    expect((await ask()).text).toBe('again')
  })

  it('with a header twice are not recognised, and names of headers are taken in any case', async () => {
    const body = '{"query": "a"}'
    const send = async (...headers: readonly string[]) => {
      const always = ['Host', 'localhost', 'Content-Length', String(body.length)]
      const sent = request(`${url}/query`, { method: 'POST', headers: [...always, ...headers] }).end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return (await buffer(answer)).toString()
    }
    await ask()
    expect(await send('API-Key', 'the key', 'Accept-Encoding', 'gzip')).toBe('again')
    expect(await send('api-key', 'the key', 'API-KEY', 'the key', 'accept-encoding', 'gzip')).toBe('whole')
    expect(await send('api-key', 'the key', 'accept-encoding', 'gzip', 'Accept-Encoding', 'br')).toBe('whole')
  })

  it('without a key in a header are not recognised', async () => {
    for (let i = 0; i < 2; i += 1) expect((await ask({ 'api-key': '' })).text).toBe('whole')
  })

  it('go the whole way with their body where the caller, the project or the answer has changed (AU-3)', async () => {
    await ask()
    isAdmitted = false
    expect((await ask()).text).toBe('whole')
    isAdmitted = true
    project = { ...PROJECT, activeVersion: 2 }
    expect((await ask()).text).toBe('whole')
    project = { ...PROJECT }
    ready = null
    expect((await ask()).text).toBe('whole')
    expect(new Set(whole)).toEqual(new Set(['{"query": "a"}']))
    ready = READY
    expect((await ask()).text).toBe('again')
  })

  it('go the whole way where the short one fails', async () => {
    await ask()
    ready = { headers: ['etag', 'not\na header'], bytes: Buffer.from('again') }
    expect((await ask()).text).toBe('whole')
  })

  it('are forgotten, those of longest ago first, when there are too many', async () => {
    const bodyOf = (n: number) => String(n).padStart(8000, '0')
    for (let n = 0; n < 600; n += 1) await ask({}, bodyOf(n))
    expect((await ask({}, bodyOf(599))).text).toBe('again')
    expect((await ask({}, bodyOf(0))).text).toBe('whole')
  })

  it('go the whole way once the service stops', async () => {
    await ask()
    repeats.stop()
    expect((await ask()).text).toBe('whole')
  })
})
