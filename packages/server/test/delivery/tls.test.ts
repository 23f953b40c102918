import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { SYSTEM_TLS, type ChannelTls } from '../../src/delivery/channel.ts'
import { checkTls } from '../../src/delivery/check-tls.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createAddressGuard } from '../../src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../src/webhooks/endpoint.ts'
import {
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
  TEST_AUTHORITY,
} from './test-certificates.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const TRUSTING: ChannelTls = { ...SYSTEM_TLS, certificateAuthority: TEST_AUTHORITY }
const INTRODUCED: ChannelTls = {
  ...TRUSTING,
  clientCertificate: CLIENT_CERTIFICATE,
  clientKey: CLIENT_KEY,
}

/** A receiver with a certificate of the test's authority; answers who called. */
async function startTlsReceiver(options: ServerOptions = {}): Promise<number> {
  const server = createServer(
    { cert: SERVER_CERTIFICATE, key: SERVER_KEY, ...options },
    (request, response) => {
      const subject = (request.socket as TLSSocket).getPeerCertificate().subject as
        { CN?: string } | undefined
      request.resume().on('end', () => response.end(subject?.CN ?? 'nobody'))
    },
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function startEndpoint() {
  const guard = createAddressGuard({
    allowedCidrs: ['127.0.0.0/8'],
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  })
  const endpoint = createWebhookEndpoint(guard, systemClock)
  closing.push(() => endpoint.close())
  return async (url: string, tls: ChannelTls) => {
    const request = { url, headers: {}, secrets: [], tls, body: Buffer.from('[]'), webhookId: 'msg_1' }
    const { outcome, answer } = await endpoint.send({ ...request, timestampSeconds: 1 }, { timeoutMs: 3000 })
    return { outcome, answer: Buffer.from(answer).toString() }
  }
}

describe('TLS to receivers', () => {
  it('trusts a private authority where the channel names it, and nowhere else (DL-10)', async () => {
    const port = await startTlsReceiver()
    const send = startEndpoint()
    const trusted = await send(`https://receiver.example:${port}/`, TRUSTING)
    expect(trusted).toEqual({ outcome: { kind: 'acknowledged', status: 200 }, answer: 'nobody' })
    const { outcome } = await send(`https://receiver.example:${port}/`, SYSTEM_TLS)
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringMatching(/certificate/) as string,
    })
  })

  it('verifies the name as well: a certificate for another host is refused (DL-10)', async () => {
    const port = await startTlsReceiver()
    const { outcome } = await startEndpoint()(`https://other.example:${port}/`, TRUSTING)
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('altnames') as string,
    })
  })

  it('introduces itself to a receiver that asks for a certificate, and only then gets in (DL-10)', async () => {
    const port = await startTlsReceiver({ requestCert: true, rejectUnauthorized: true, ca: TEST_AUTHORITY })
    const send = startEndpoint()
    expect(await send(`https://localhost:${port}/`, INTRODUCED)).toEqual({
      outcome: { kind: 'acknowledged', status: 200 },
      answer: 'client',
    })
    expect((await send(`https://localhost:${port}/`, TRUSTING)).outcome.kind).toBe('unreachable')
  })

  it.each<[Partial<ChannelTls>, RegExp]>([
    [
      { certificateAuthority: 'nonsense' },
      /^tls\.certificateAuthority: must be one or more certificates in PEM/,
    ],
    [{ certificateAuthority: CLIENT_KEY }, /^tls\.certificateAuthority/],
    [{ clientCertificate: CLIENT_CERTIFICATE }, /must be given together/],
    [{ clientKey: CLIENT_KEY }, /must be given together/],
    [{ clientCertificate: CLIENT_CERTIFICATE, clientKey: SERVER_KEY }, /^tls\.clientKey: must be the key of/],
    [{ clientCertificate: CLIENT_CERTIFICATE, clientKey: 'x' }, /^tls\.clientKey: must be a private key/],
  ])('refuses what cannot be used, naming the field: case %# (DL-10)', (part, message) => {
    expect(() => checkTls({ ...SYSTEM_TLS, ...part })).toThrow(message)
  })

  it('accepts several authorities and a certificate with its key (DL-10)', () => {
    const tls = { ...INTRODUCED, certificateAuthority: TEST_AUTHORITY + SERVER_CERTIFICATE }
    expect(checkTls(tls)).toBe(tls)
  })
})
