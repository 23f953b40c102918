import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceError } from '../platform/errors.ts'
import { silentLogger } from '../platform/logger.ts'
import type { AccessRequest } from '../projects/access.ts'
import { buildApp } from './app.ts'
import { defineRoute } from './route.ts'

const echo = defineRoute({
  method: 'POST',
  path: '/echo/:owner/:project',
  permission: 'read',
  summary: 'Answers with what it understood.',
  tag: 'metrics',
  params: Type.Object({ project: Type.String() }),
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })) }),
  body: Type.Object({
    cachePolicy: Type.Optional(Type.Object({ noCache: Type.Optional(Type.Boolean()) })),
    labelSelector: Type.Optional(Type.Record(Type.String(), Type.String())),
    size: Type.Optional(Type.Integer()),
    op: Type.Optional(Type.Union([Type.Literal('SUM'), Type.Literal('AVG')])),
    fail: Type.Optional(Type.String()),
    rows: Type.Optional(Type.Array(Type.Object({ at: Type.Optional(Type.String({ format: 'date-time' })) }))),
  }),
  example: { size: 1 },
  answer: Type.Object({}),
  handle: ({ body, query }) => {
    if (body.fail === 'expected')
      throw new ServiceError('resource_exhausted', 'too many', { retryAfterSeconds: 2.1 })
    if (body.fail === 'defect') throw new Error('the password is swordfish')
    return { body, query }
  },
})

let app: FastifyInstance
let isReady = true
const questions: AccessRequest[] = []

beforeAll(async () => {
  app = await buildApp({
    log: silentLogger,
    bodyLimitBytes: 4096,
    routes: [echo],
    access: {
      recall: () => null,
      check: (question) => {
        questions.push(question)
        if (question.secret === 'wrong') throw new ServiceError('unauthenticated', 'the key is unknown')
        return Promise.resolve({ key: null, project: null })
      },
    },
    checkReady: () =>
      isReady
        ? Promise.resolve()
        : Promise.reject(new ServiceError('unavailable', 'the fact engine is restarting')),
  })
})

afterAll(() => app.close())

function post(
  payload: string | object | Buffer,
  headers: Record<string, string> = {},
  url = '/api/v1/echo/o/p',
) {
  return app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

describe('requests', () => {
  it('are served under /api/v1 and /v1 alike (WI-1)', async () => {
    const answers = await Promise.all(
      ['/api/v1', '/v1'].map((prefix) => post({ size: 3 }, {}, `${prefix}/echo/o/p`)),
    )
    expect(answers.map((answer) => answer.json())).toEqual([
      { body: { size: 3 }, query: {} },
      { body: { size: 3 }, query: {} },
    ])
  })

  it('may write fields in snake_case or camelCase, null for absent, and unknown ones (WI-2)', async () => {
    const answer = await post({ cache_policy: { no_cache: true }, size: null, nonsense: [1], op: 'SUM' })
    expect(answer.json()).toEqual({ body: { cachePolicy: { noCache: true }, op: 'SUM' }, query: {} })
  })

  it('keep the names inside maps as they are (WI-2)', async () => {
    const answer = await post({ label_selector: { token_name: 'a', tokenName: 'b', absent: null } })
    expect(answer.json()).toMatchObject({ body: { labelSelector: { token_name: 'a', tokenName: 'b' } } })
    expect(answer.json().body.labelSelector).not.toHaveProperty('absent')
  })

  it('may write 64-bit integers as decimal text, as protobuf-JSON does (WI-2)', async () => {
    expect((await post({ size: '20' })).json()).toMatchObject({ body: { size: 20 } })
  })

  it.each(['text/plain', 'application/vnd.api+json; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'parse a JSON body whatever content type it carries: %s (WI-2)',
    async (type) => {
      expect((await post('{"size":1}', { 'content-type': type })).json()).toMatchObject({ body: { size: 1 } })
    },
  )

  it('present the key in a header, as a bearer token or as a query parameter (AU-1)', async () => {
    questions.length = 0
    await post({}, { 'API-Key': 'in-header' })
    await post({}, { authorization: 'bearer in-bearer' })
    await post({}, {}, '/v1/echo/o/p?api-key=in-query')
    await post({})
    expect(questions.map(({ secret }) => secret)).toEqual(['in-header', 'in-bearer', 'in-query', null])
    expect(questions[0]).toMatchObject({ permission: 'read', project: { owner: 'o', name: 'p' } })
  })
})

describe('errors', () => {
  it('have the google.rpc form and a request id (ER-1)', async () => {
    const answer = await post({ fail: 'expected' })
    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toEqual({ code: 8, message: 'too many', details: [] })
    expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
    expect(answer.headers['retry-after']).toBe('3')
  })

  it('say nothing internal when the service is at fault (ER-2)', async () => {
    const answer = await post({ fail: 'defect' })
    expect(answer.statusCode).toBe(500)
    expect(answer.json().code).toBe(13)
    expect(answer.body).not.toContain('swordfish')
  })

  it.each([
    [{ size: 1.5 }, 'size must be an integer'],
    [{ op: 'MEDIAN' }, 'op must be one of SUM, AVG'],
    [{ cachePolicy: { noCache: 'perhaps' } }, 'cachePolicy.noCache must be a boolean'],
    [{ rows: [{}, { at: 1 }] }, 'rows[1].at must be a string'],
    [{ rows: [{ at: 'noon' }] }, 'rows[0].at must be RFC 3339 such as "2026-01-31T12:00:00Z"'],
    [[], 'body must be an object'],
  ])('name the field and what is allowed: %j (ER-2)', async (body, message) => {
    const answer = await post(body)
    expect([answer.statusCode, answer.json().message]).toEqual([400, message])
  })

  it('name the parameter of the address at fault (ER-2)', async () => {
    expect((await post({}, {}, '/v1/echo/o/p?limit=11')).json().message).toBe('limit must be from 1 to 10')
  })

  it('are 413 for a body over the limit and 400 for one that is not JSON (ER-5)', async () => {
    const large = await post({ fail: 'x'.repeat(5000) })
    expect([large.statusCode, large.json().message]).toEqual([
      413,
      expect.stringContaining('MILLRACE_BODY_LIMIT_BYTES'),
    ])
    const broken = await post('{"size":')
    expect([broken.statusCode, broken.json().message]).toEqual([
      400,
      expect.stringContaining('not valid JSON'),
    ])
  })

  it('are 413 for a compressed body that is over the limit once decompressed (ER-5)', async () => {
    const bomb = gzipSync(JSON.stringify({ fail: ' '.repeat(1_000_000) }))
    expect(bomb.length).toBeLessThan(4096)
    expect((await post(bomb, { 'content-encoding': 'gzip' })).statusCode).toBe(413)
    expect((await post(gzipSync('{"size":7}'), { 'content-encoding': 'gzip' })).json()).toMatchObject({
      body: { size: 7 },
    })
  })

  it('are 405 with allow for a wrong method and 404 for an unknown path (ER-5)', async () => {
    const wrong = await app.inject({ method: 'GET', url: '/v1/echo/o/p' })
    expect([wrong.statusCode, wrong.headers['allow'], wrong.json().code]).toEqual([405, 'POST', 12])
    const unknown = await app.inject({ method: 'GET', url: '/v1/nothing' })
    expect([unknown.statusCode, unknown.json().code]).toEqual([404, 5])
  })

  it.each([
    ['POST', '/healthz', 405],
    ['DELETE', '/openapi.json', 405],
    ['GET', '/v1/echo/%ff/p', 400],
    ['POST', `/v1/echo/${'o'.repeat(600)}/p`, 400],
  ] as const)('have the same form outside of the routes: %# (ER-1, ER-5)', async (method, url, status) => {
    const answer = await app.inject({ method, url })
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toEqual({ code: expect.any(Number), message: expect.any(String), details: [] })
    expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  })

  it.each([
    ['garbage\r\n\r\n', 400],
    ['POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n', 400],
    [`GET /healthz?${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ])('have the same form for what is no request: %# (ER-1)', async (bytes, status) => {
    const { port } = new URL(
      await app.listen({ host: '127.0.0.1', port: 0 }).catch(() => app.listeningOrigin),
    )
    const socket = connect(Number(port), '127.0.0.1').end(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*x-request-id: `))
    expect(JSON.parse(body)).toEqual({ code: 3, message: expect.any(String), details: [] })
  })

  it('come before the body is looked at when the key is wrong (AU-3)', async () => {
    expect((await post('{broken', { 'api-key': 'wrong' })).statusCode).toBe(401)
  })
})

describe('beside the routes', () => {
  it('serves an OpenAPI 3.1 document generated from the schemas, with a page (WI-6)', async () => {
    const document = (await app.inject('/openapi.json')).json()
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(['/healthz', '/readyz', '/api/v1/echo/{owner}/{project}'])
    const operation = document.paths['/api/v1/echo/{owner}/{project}'].post
    expect(operation.requestBody.content['application/json'].schema.properties).toHaveProperty(
      'labelSelector',
    )
    expect(operation.operationId).toBe('post_echo_owner_project')
    const named = operation.parameters.filter((parameter: { in: string }) => parameter.in === 'path')
    expect(named).toMatchObject([
      { name: 'owner', required: true },
      { name: 'project', required: true },
    ])
    expect(operation.requestBody.content['application/json'].example).toEqual({ size: 1 })
    expect(document.paths['/readyz'].get.security).toEqual([])
    const { headers } = await app.inject('/docs/')
    expect(headers['content-type']).toContain('text/html')
    expect(headers['content-security-policy']).toMatch(/^(?!.*upgrade-insecure).*script-src 'self'/)
  })

  it('compresses when the client accepts it (WI-5)', async () => {
    const long = { labelSelector: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`l${i}`, 'v'])) }
    for (const encoding of ['br', 'gzip', 'zstd']) {
      const answer = await post(long, { 'accept-encoding': encoding })
      expect(answer.headers['content-encoding']).toBe(encoding)
    }
  })

  it('gives a request five minutes to arrive, so that nobody holds connections by sending slowly', () => {
    expect(app.server.requestTimeout).toBe(300_000)
  })

  it('is alive while an engine is away, and ready only when it answers', async () => {
    isReady = false
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    expect((await app.inject('/readyz')).json()).toMatchObject({
      code: 14,
      message: 'the fact engine is restarting',
    })
    isReady = true
    expect((await app.inject('/readyz')).statusCode).toBe(200)
  })
})
