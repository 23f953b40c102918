import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { SYSTEM_TLS } from '../delivery/channel.ts'
import { systemClock } from '../platform/clock.ts'
import { createAddressGuard } from './address-guard.ts'
import { createWebhookEndpoint, type WebhookEndpoint } from './endpoint.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function endpointFor(options: Partial<Parameters<typeof createAddressGuard>[0]> = {}): WebhookEndpoint {
  const guard = createAddressGuard({ allowedCidrs: ['127.0.0.0/8'], ...options })
  const endpoint = createWebhookEndpoint(guard, systemClock)
  closing.push(() => endpoint.close())
  return endpoint
}

async function receiver(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

function send(endpoint: WebhookEndpoint, url: string, timeoutMs = 2000) {
  return endpoint.send(
    {
      url,
      headers: { 'x-team': 'a' },
      body: Buffer.from('[{"event_id":1}]'),
      webhookId: 'msg_1',
      timestampSeconds: 1,
      secrets: ['whsec_AAAA'],
      tls: SYSTEM_TLS,
    },
    { timeoutMs },
  )
}

describe('the webhook endpoint', () => {
  it('posts the body as JSON with the channel’s and the signature’s headers (DL-1)', async () => {
    const seen: unknown[] = []
    const url = await receiver((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        seen.push(request.method, request.headers, Buffer.concat(parts).toString())
        response.end('thanks')
      })
    })
    const report = await send(endpointFor(), url)
    expect(report.outcome).toEqual({ kind: 'acknowledged', status: 200 })
    expect(Buffer.from(report.answer).toString()).toBe('thanks')
    expect(seen).toEqual([
      'POST',
      expect.objectContaining({
        'content-type': 'application/json',
        'content-length': '16',
        'x-team': 'a',
        'webhook-id': 'msg_1',
        'webhook-timestamp': '1',
        'webhook-signature': expect.stringMatching(/^v1,/) as string,
      }),
      '[{"event_id":1}]',
    ])
  })

  it.each([
    [200, 'acknowledged'],
    [202, 'acknowledged'],
    [209, 'acknowledged'],
    [210, 'refused'],
    [226, 'refused'],
    [301, 'refused'],
    [404, 'refused'],
    [500, 'refused'],
  ] as const)('reads a status %i as %s (DL-2)', async (status, kind) => {
    const url = await receiver((_, response) => response.writeHead(status).end())
    expect((await send(endpointFor(), url)).outcome).toMatchObject({ kind, status })
  })

  it('follows no redirect (DL-2)', async () => {
    let calls = 0
    const url = await receiver((request, response) => {
      calls += 1
      response.writeHead(307, { location: request.url === '/hook' ? '/elsewhere' : '/hook' }).end()
    })
    expect((await send(endpointFor(), url)).outcome).toMatchObject({ kind: 'refused', status: 307 })
    expect(calls).toBe(1)
  })

  it('hands Retry-After on, in seconds and as a date (DL-3)', async () => {
    const url = await receiver((_, response) => response.writeHead(429, { 'retry-after': '7' }).end())
    expect((await send(endpointFor(), url)).outcome).toMatchObject({ retryAfterMs: 7000 })
    const dated = await receiver((_, response) =>
      response.writeHead(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }).end(),
    )
    const { outcome } = await send(endpointFor(), dated)
    expect(outcome.kind === 'refused' && outcome.retryAfterMs).toBeGreaterThan(50_000)
  })

  it('gives up at the deadline when no answer comes (DL-2)', async () => {
    const url = await receiver(() => {})
    const report = await send(endpointFor(), url, 150)
    expect(report.outcome).toEqual({ kind: 'timed_out' })
    expect(report.durationMs).toBeLessThan(1500)
  })

  it('counts looking up the name towards the deadline (DL-2)', async () => {
    const endpoint = endpointFor({ resolve: () => new Promise(() => {}) })
    const report = await send(endpoint, 'http://never.example/', 150)
    expect(report.outcome).toEqual({ kind: 'timed_out' })
    expect(report.durationMs).toBeLessThan(1500)
  })

  it('counts a connection that never speaks towards the deadline (DL-2)', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const report = await send(endpointFor(), url, 150)
    expect(report.outcome).toEqual({ kind: 'timed_out' })
    expect(report.durationMs).toBeLessThan(1500)
  })

  it('keeps the first bytes of an endless answer and drops the rest (DL-2)', async () => {
    const url = await receiver((_, response) => {
      const endless = Readable.from(
        (function* () {
          for (;;) yield Buffer.alloc(65_536, 'x')
        })(),
      )
      endless.pipe(response)
      response.on('close', () => endless.destroy())
    })
    const report = await send(endpointFor(), url)
    expect(report.outcome).toMatchObject({ kind: 'acknowledged' })
    expect(report.answer).toHaveLength(1024)
  })

  it('waits a bounded time for an answer that drips (DL-2)', async () => {
    const url = await receiver((_, response) => {
      const timer = setInterval(() => response.write('.'), 50)
      response.on('close', () => clearInterval(timer))
    })
    const report = await send(endpointFor(), url)
    expect(report.outcome).toMatchObject({ kind: 'acknowledged' })
    expect(report.durationMs).toBeLessThan(3000)
  })

  it.each([
    ['ends there', 20_000],
    ['promises more', 40_000],
  ])('lets an answer go that passes the bound of bytes and %s (DL-2)', async (_, length) => {
    const url = await receiver((_request, response) => {
      response.writeHead(200, { 'content-length': length, connection: 'close' })
      response.write(Buffer.alloc(20_000, 'x'))
    })
    const endpoint = endpointFor()
    for (const report of [await send(endpoint, url), await send(endpoint, url)]) {
      expect(report.outcome).toEqual({ kind: 'acknowledged', status: 200 })
      expect(report.answer).toHaveLength(1024)
      expect(report.durationMs).toBeLessThan(1000)
    }
  })

  it('goes by the status where the answer breaks off after it (DL-2)', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('thanks', () => response.destroy())
    })
    const report = await send(endpointFor(), url)
    expect(report.outcome).toEqual({ kind: 'acknowledged', status: 200 })
    expect(Buffer.from(report.answer).toString()).toBe('thanks')
  })

  it('takes an interim response for no answer (DL-2)', async () => {
    const answering = await receiver((_, response) => {
      response.writeProcessing()
      response.writeHead(503).end()
    })
    expect((await send(endpointFor(), answering)).outcome).toMatchObject({ kind: 'refused', status: 503 })
    const hanging = await receiver((_, response) => response.writeProcessing())
    expect((await send(endpointFor(), hanging, 150)).outcome).toEqual({ kind: 'timed_out' })
  })

  it('sends nothing once the deadline has passed while connecting (DL-2)', async () => {
    const seen: unknown[] = []
    const url = await receiver((request, response) => {
      seen.push(request.url)
      response.end()
    })
    const named = url.replace('127.0.0.1', 'slow.example')
    const found = Promise.withResolvers<readonly { address: string; family: number }[]>()
    const endpoint = endpointFor({ resolve: () => found.promise })
    expect((await send(endpoint, named, 50)).outcome).toEqual({ kind: 'timed_out' })
    found.resolve([{ address: '127.0.0.1', family: 4 }])
    expect((await send(endpoint, `${named}/later`)).outcome.kind).toBe('acknowledged')
    expect(seen).toEqual(['/hook/later'])
  })

  it('reports a broken connection and a closed port as unreachable (DL-3)', async () => {
    const url = await receiver((request) => request.socket.destroy())
    expect((await send(endpointFor(), url)).outcome.kind).toBe('unreachable')
    expect((await send(endpointFor(), 'http://127.0.0.1:1/')).outcome).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('ECONNREFUSED') as string,
    })
  })

  it.each([
    ['HTTP/1.1 000 X', /^Response does not match the HTTP\/1.1 protocol$/],
    ['HTTP/1.1 99 X', /^Response does not match the HTTP\/1.1 protocol \(Invalid status code\)$/],
    ['hello', /^Response does not match the HTTP\/1.1 protocol/],
    [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`, /^the headers of the answer are longer than 16 KiB$/],
  ])('says what is wrong with an answer that begins with %.20s, in a line (DL-11)', async (head, reason) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write(`${head}\r\ncontent-length: 0\r\n\r\n`))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { outcome } = await send(endpointFor(), url)
    expect(outcome).toEqual({ kind: 'unreachable', reason: expect.stringMatching(reason) as string })
  })

  it('refuses a certificate that nobody vouches for (DL-3)', async () => {
    const url = await receiver((_, response) => response.end())
    expect((await send(endpointFor(), url.replace('http:', 'https:'))).outcome.kind).toBe('unreachable')
  })

  it('says what failed of TLS, not where in its library (DL-11)', async () => {
    const url = await receiver((_, response) => response.end())
    expect((await send(endpointFor(), url.replace('http:', 'https:'))).outcome).toEqual({
      kind: 'unreachable',
      reason: 'TLS failed: wrong version number; does the endpoint speak http, without TLS?',
    })
  })

  it('checks the address at every connection, also of a name that leads elsewhere by then (DL-10)', async () => {
    let calls = 0
    const url = await receiver((_, response) => {
      calls += 1
      response.setHeader('connection', 'close').end()
    })
    const named = url.replace('127.0.0.1', 'rebinding.example')
    let address = '127.0.0.1'
    const resolve = () => Promise.resolve([{ address, family: 4 }])
    const endpoint = endpointFor({ resolve })
    expect((await send(endpoint, named)).outcome.kind).toBe('acknowledged')
    address = '169.254.169.254'
    expect((await send(endpoint, named)).outcome).toEqual({
      kind: 'unreachable',
      reason:
        'rebinding.example leads out of bounds: 169.254.169.254 is in 169.254.0.0/16 (link-local and cloud metadata)',
    })
    const strict = endpointFor({ allowedCidrs: [] })
    expect((await send(strict, url)).outcome).toMatchObject({
      kind: 'unreachable',
      reason: '127.0.0.1 is in 127.0.0.0/8 (loopback)',
    })
    expect(calls).toBe(1)
  })

  it('uses no proxy of the environment (DL-10)', async () => {
    const url = await receiver((_, response) => response.end())
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:1/'
    process.env['NODE_USE_ENV_PROXY'] = '1'
    closing.push(() => {
      delete process.env['HTTP_PROXY']
      delete process.env['NODE_USE_ENV_PROXY']
    })
    expect((await send(endpointFor(), url)).outcome.kind).toBe('acknowledged')
  })
})
