import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWebhookSecret, signatureHeaders } from '../../src/webhooks/signature.ts'
import { ROOT } from '../house/sources.ts'
import { freePort } from '../support/free-port.ts'

const RECEIVERS = ['webhook-receiver.ts', 'webhook-receiver-express.mjs', 'webhook-receiver-fastify.ts']

const secret = createWebhookSecret()
let child: ChildProcess
let url: string

/** Calls the receiver as the service does; what a test does not say is right. */
async function call(
  body: string,
  {
    key = secret,
    signed = body,
    ageSeconds = 0,
  }: { key?: string; signed?: string; ageSeconds?: number } = {},
): Promise<number> {
  const headers = signatureHeaders(
    {
      webhookId: 'msg_1',
      timestampSeconds: Math.floor(Date.now() / 1000) - ageSeconds,
      body: Buffer.from(signed),
    },
    [key],
  )
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  await answer.arrayBuffer()
  return answer.status
}

const kept = async (): Promise<unknown> => (await fetch(url)).json()

function message(eventId: number, data: unknown, more: object = {}) {
  return { export_name: 'transfer', event_id: eventId, timestamp_micros: 1, version: 1, data, ...more }
}

describe.each(RECEIVERS)('the receiver of examples/%s', (example) => {
  beforeEach(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    child = spawn(process.execPath, [join(ROOT, 'examples', example)], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (child.stdout) await once(child.stdout, 'data')
  })
  afterEach(() => child.kill())

  it('does not start without a secret, as it could verify nothing (DL-1)', async () => {
    const args = [join(ROOT, 'examples', example)]
    const bare = spawn(process.execPath, args, { cwd: ROOT, env: { PATH: process.env['PATH'], PORT: '0' } })
    const [parts] = await Promise.all([bare.stderr.toArray(), once(bare, 'exit')])
    expect(Buffer.concat(parts as Buffer[]).toString()).toContain('WEBHOOK_SECRET must be')
    expect(bare.exitCode).toBe(1)
  })

  it('keeps one message of each event id, the last that came, and none that was retracted (DL-1, DL-8, DL-13)', async () => {
    const first = JSON.stringify([message(1, 'a'), message(2, 'b'), message(3, 'c')])
    expect(await call(first)).toBeLessThan(210)
    // The same call once more, as after an answer that was lost.
    expect(await call(first)).toBeLessThan(210)
    expect(await kept()).toEqual({ 1: 'a', 2: 'b', 3: 'c' })
    const second = [message(2, 'instead', { version: 2 }), message(3, null, { retracted: true })]
    expect(await call(JSON.stringify(second))).toBeLessThan(210)
    expect(await kept()).toEqual({ 1: 'a', 2: 'instead' })
  })

  it('answers 401 to what the service did not send, or sent long ago, and keeps nothing of it (DL-1)', async () => {
    const body = JSON.stringify([message(1, 'forged')])
    expect(await call(body, { key: createWebhookSecret() })).toBe(401)
    expect(await call(body, { signed: `${body} ` })).toBe(401)
    expect(await call(body, { ageSeconds: 600 })).toBe(401)
    const unsigned = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(unsigned.status).toBe(401)
    const form = await fetch(url, { method: 'POST', body: new URLSearchParams({ a: '1' }) })
    expect([401, 415]).toContain(form.status)
    expect(await kept()).toEqual({})
  })

  it('verifies the bytes as they came, whatever they look like, up to the largest message (DL-1)', async () => {
    const odd = ` [ {"event_id":7 ,"data" : {"z":1.10,"a":"\\u0000☕ 😀","n":${2n ** 256n - 1n}}} ]\n`
    expect(await call(odd)).toBeLessThan(210)
    expect(await call(JSON.stringify([message(8, 'x'.repeat(5 * 1024 * 1024))]))).toBeLessThan(210)
    expect(Object.keys((await kept()) as object)).toEqual(['7', '8'])
    expect(await call('x'.repeat(17 * 1024 * 1024)).catch(() => 413)).toBe(413)
  })
})
