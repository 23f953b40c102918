import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createChannels } from '../../src/delivery/manage-channels.ts'
import { buildApp } from '../../src/http/app.ts'
import { attemptsRoute } from '../../src/http/routes/attempts.ts'
import { channelRoutes } from '../../src/http/routes/channel.ts'
import { channelsRoutes } from '../../src/http/routes/channels.ts'
import { deadLetterOperationsRoutes } from '../../src/http/routes/dead-letter-operations.ts'
import { deadLettersRoute } from '../../src/http/routes/dead-letters.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Permission, Project } from '../../src/projects/project.ts'
import { createAddressGuard } from '../../src/webhooks/address-guard.ts'
import { createWebhookSecret } from '../../src/webhooks/signature.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createBench, exported, PROJECT_ID, refused, type Bench } from './bench.ts'

const project: Project = {
  id: PROJECT_ID,
  owner: 'acme',
  name: 'swaps',
  type: 'processor',
  isPublic: false,
  activeVersion: 1,
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

describe.each(controlDatabases)('channels and dead letters over HTTP on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench
  let app: FastifyInstance
  let wakeUps: number
  let permissions: (Permission | null)[]

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
    wakeUps = 0
    permissions = []
    const channels = createChannels({
      store: bench.channels,
      guard: createAddressGuard({
        allowedCidrs: [],
        resolve: () => Promise.resolve([{ address: '93.184.216.34', family: 4 }]),
      }),
      clock: bench.clock,
      createSecret: createWebhookSecret,
      wake: () => {
        wakeUps += 1
      },
    })
    app = await buildApp({
      log: silentLogger,
      bodyLimitBytes: 1 << 20,
      routes: [
        ...channelsRoutes(channels),
        ...channelRoutes(channels),
        attemptsRoute(channels, bench.attempts),
        deadLettersRoute(bench.letters, bench.clock),
        ...deadLetterOperationsRoutes({ channels, letters: bench.letters, clock: bench.clock }),
      ],
      access: {
        recall: () => null,
        check: ({ permission }) => {
          permissions.push(permission)
          return Promise.resolve({ key: null, project })
        },
      },
      checkReady: () => Promise.resolve(),
    })
  })
  afterEach(async () => {
    await app.close()
    await database.close()
  })

  async function call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Answer> {
    const response = await app.inject({
      method,
      url: `/api/v1/webhook/${path}`,
      headers: body ? { 'content-type': 'application/json' } : {},
      ...(body ? { payload: body } : {}),
    })
    return { status: response.statusCode, body: response.json() }
  }

  const create = (body: object) => call('POST', 'channels/acme/swaps', body)

  it('shows the secret of a channel once, when it is created (DL-1)', async () => {
    const created = await create({
      name: 'alerts',
      url: 'https://receiver.example/hook',
      headers: { 'X-A': '1' },
    })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'alerts',
      status: 'active',
      headers: { 'x-a': '1' },
      maxBatchMessages: 100,
      maxBatchBytes: 262_144,
      requestsAtOnce: 1,
      backoff: { initialMs: 1000, capMs: 3_600_000 },
      deadLetter: { ageMs: 86_400_000, attempts: 12 },
      paused: false,
      pendingMessages: 0,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    })
    const shown = await call('GET', 'channels/acme/swaps/alerts')
    expect(shown.body).not.toHaveProperty('secret')
    const list = await call('GET', 'channels/acme/swaps')
    expect(list.body).toEqual({ channels: [shown.body] })
    expect(new Set(permissions)).toEqual(new Set(['admin']))
    expect((await create({ name: 'alerts', url: 'https://receiver.example/' })).status).toBe(409)
  })

  it('refuses a private address, naming the range and the setting that allows it (DL-10)', async () => {
    const { status, body } = await create({ name: 'alerts', url: 'http://127.0.0.1:9000/' })
    expect(status).toBe(400)
    expect(body['message']).toBe(
      'url: 127.0.0.1 is in 127.0.0.0/8 (loopback), which webhooks may not reach; the operator of this service can allow it with MILLRACE_WEBHOOK_ALLOWED_CIDRS',
    )
    await create({ name: 'alerts', url: 'https://receiver.example/' })
    expect((await call('PATCH', 'channels/acme/swaps/alerts', { url: 'http://[::1]/' })).status).toBe(400)
  })

  it.each([
    [{ name: 'a/b' }, /name: must have/],
    [{ headers: { Host: 'x' } }, /headers: "Host" is set by the service/],
    [{ maxBatchMessages: 501 }, /maxBatchMessages must be from 1 to 500/],
    [{ requestsAtOnce: 0 }, /requestsAtOnce must be from 1 to 16/],
    [{ requestsAtOnce: 17 }, /requestsAtOnce must be from 1 to 16/],
    [{ requestsAtOnce: 1.5 }, /requestsAtOnce must be an integer/],
    [{ requestsAtOnce: 'two' }, /requestsAtOnce must be an integer/],
    [{ requestsPerSecond: -1 }, /requestsPerSecond must be from 0 to 1000/],
    [{ backoff: { initialMs: 60_001, capMs: 60_000 } }, /backoff.initialMs: must be at most backoff.capMs/],
    [{ dead_letter: { attempts: 0 } }, /deadLetter.attempts must be from 1 to 1000/],
    [{ url: 'nonsense' }, /url: must be an http or https URL/],
  ])('refuses %j, naming the field (ER-2)', async (part, message) => {
    const { status, body } = await create({ name: 'alerts', url: 'https://receiver.example/', ...part })
    expect(status).toBe(400)
    expect(body['message']).toMatch(message)
  })

  it('warns of members that look like others, and of an alert channel that cannot be told yet (DL-12, WI-2)', async () => {
    const { body } = await create({
      name: 'alerts',
      url: 'https://receiver.example/',
      maxbatchmessages: 5,
      alertChannel: 'opps',
    })
    expect(body['warnings']).toEqual([
      'maxbatchmessages is not known and was left out; did you mean maxBatchMessages?',
      'alertChannel: channel "opps" does not exist yet; alerts wait until it has an address',
    ])
    await create({ name: 'ops', url: 'https://receiver.example/' })
    const changed = await call('PATCH', 'channels/acme/swaps/alerts', { alertChannel: 'ops', pause: true })
    expect(changed.body['warnings']).toEqual(['pause is not known and was left out; did you mean paused?'])
    expect((await call('GET', 'channels/acme/swaps/alerts')).body).not.toHaveProperty('warnings')
  })

  it.each(['redrive', 'dismiss'])('%ss no letters of a channel that does not exist (DD-4)', async (verb) => {
    const { status, body } = await call('POST', `deadletter/acme/swaps/${verb}`, { channel: 'opps' })
    expect([status, body['message']]).toEqual([404, 'channel "opps" does not exist'])
    const chosen = await call('POST', `deadletter/acme/swaps/${verb}`, { ids: ['x'] })
    expect([chosen.status, chosen.body['message']]).toEqual([
      400,
      'ids[0] must be an id: a decimal number of at most 15 digits, as text',
    ])
  })

  it('takes how many requests a channel may have at once, keeps it, and warns beside a rate (DL-3, WI-2)', async () => {
    const path = 'channels/acme/swaps/alerts'
    const created = await create({
      name: 'alerts',
      url: 'https://receiver.example/',
      requestsAtOnce: 16,
      requestsPerSecond: 10,
    })
    const warnings = ['requestsAtOnce: a channel with requestsPerSecond has one request at a time']
    expect(created.body).toMatchObject({ requestsAtOnce: 16, warnings })
    for (const requestsAtOnce of [0, 17, 1.5, 'two']) {
      expect((await call('PATCH', path, { requestsAtOnce })).status).toBe(400)
    }
    const unrelated = await call('PATCH', path, { maxBatchMessages: 5 })
    expect(unrelated.body).toMatchObject({ requestsAtOnce: 16, maxBatchMessages: 5 })
    expect(unrelated.body).not.toHaveProperty('warnings')
    expect((await call('PATCH', path, { requestsAtOnce: '2' })).body).toMatchObject({
      requestsAtOnce: 2,
      warnings,
    })
    expect((await call('PATCH', path, { requestsPerSecond: 0 })).body).not.toHaveProperty('warnings')
    expect((await call('GET', path)).body).toMatchObject({ requestsAtOnce: 2, requestsPerSecond: 0 })
  })

  it('changes, pauses and deletes a channel, and wakes the workers (DL-12)', async () => {
    await create({ name: 'my alerts', url: 'https://receiver.example/' })
    const changed = await call('PATCH', 'channels/acme/swaps/my%20alerts', {
      paused: true,
      max_batch_messages: 5,
      backoff: { capMs: 5000 },
    })
    expect(changed.body).toMatchObject({
      status: 'paused',
      maxBatchMessages: 5,
      backoff: { initialMs: 1000, capMs: 5000 },
    })
    expect(wakeUps).toBe(2)
    expect((await call('DELETE', 'channels/acme/swaps/my%20alerts')).status).toBe(200)
    expect((await call('GET', 'channels/acme/swaps/my%20alerts')).status).toBe(404)
  })

  it('starts afresh for another address only, and tells of no next attempt while there is none (DL-3, DL-12)', async () => {
    const url = 'https://receiver.example/'
    const path = 'channels/acme/swaps/alerts'
    await create({ name: 'alerts', url })
    await bench.enqueue(exported(1))
    bench.endpoint.answer = () => refused(503)
    await bench.work()
    const failing = { status: 'failing', failures: 1, nextAttemptAt: expect.any(String) as string }
    expect((await call('PATCH', path, { url, maxBatchMessages: 5 })).body).toMatchObject(failing)
    expect((await call('PATCH', path, { paused: true })).body).toMatchObject({
      status: 'paused',
      nextAttemptAt: null,
    })
    await call('PATCH', path, { paused: false })
    bench.endpoint.answer = () => refused(410)
    await bench.work()
    const disabled = { status: 'disabled', nextAttemptAt: null }
    expect((await call('PATCH', path, { url, maxBatchMessages: 6 })).body).toMatchObject(disabled)
    expect((await call('PATCH', path, { url: `${url}other` })).body).toMatchObject({
      status: 'active',
      failures: 0,
    })
  })

  it('gives an address to the channel that exports have created (IN-7)', async () => {
    await bench.enqueue(exported(1))
    expect((await call('GET', 'channels/acme/swaps/alerts')).body).toMatchObject({
      status: 'unconfigured',
      url: null,
      pendingMessages: 1,
    })
    const given = await call('PATCH', 'channels/acme/swaps/alerts', { url: 'https://receiver.example/' })
    expect(given.body).toMatchObject({ status: 'active', secret: expect.stringMatching(/^whsec_/) as string })
    await bench.work()
    expect(bench.endpoint.acknowledged).toHaveLength(1)
    expect(bench.endpoint.requests[0]?.secrets).toEqual([given.body['secret']])
  })

  it('answers a pull in the shape of the interface, attributes as text, data as the JSON that was sent (DD-3)', async () => {
    await create({
      name: 'alerts',
      url: 'https://receiver.example/',
      deadLetter: { ageMs: 0, attempts: 1 },
    })
    await bench.enqueue(exported('{"b":1.10,"a":9007199254740993}'), exported('"ok"'))
    bench.endpoint.answer = () => refused(500)
    await bench.work()
    const { status, body } = await call('GET', 'deadletter/acme/swaps?limit=10')
    expect(status).toBe(200)
    expect(permissions.at(-1)).toBe('read')
    expect(body).toEqual({
      messages: [
        {
          id: expect.stringMatching(/^[0-9]+$/) as string,
          attributes: {
            channel_name: 'alerts',
            attempts: '1',
            last_status: '500',
            last_error: 'the endpoint answered 500',
            died_at: new Date(bench.clock.now()).toISOString(),
          },
          data: Buffer.from(bench.endpoint.requests[0]?.body ?? []).toString(),
        },
      ],
    })
    const [letter] = (body as { messages: { id: string }[] }).messages
    expect((await call('GET', `deadletter/acme/swaps?after=${letter?.id}`)).body).toEqual({ messages: [] })
    expect((await call('GET', 'deadletter/acme/swaps?channel=other')).body).toEqual({ messages: [] })
    const attempts = await call('GET', 'channels/acme/swaps/alerts/attempts')
    expect(attempts.body).toMatchObject({ attempts: [{ outcome: 'refused', status: 500, answer: 'ok' }] })
  })

  it('refuses attempts of a time that ends before it begins (DL-11)', async () => {
    await call('POST', 'channels/acme/swaps', { name: 'alerts', url: 'https://example.com/hook' })
    const during = (from: string, until: string) =>
      call('GET', `channels/acme/swaps/alerts/attempts?from=${from}&until=${until}`)
    expect(await during('2026-01-02T00:00:00Z', '2026-01-01T23:59:59Z')).toMatchObject({
      status: 400,
      body: { message: 'query.until: must not be before from' },
    })
    expect((await during('2026-01-02T00:00:00Z', '2026-01-02T01:00:00%2B01:00')).status).toBe(200)
  })

  it.each(['0', '11', '-1', '1.5', 'ten', ''])('refuses limit=%s (DD-1)', async (limit) => {
    const { status, body } = await call('GET', `deadletter/acme/swaps?limit=${limit}`)
    expect(status).toBe(400)
    expect(body['message']).toContain('limit')
  })
})
