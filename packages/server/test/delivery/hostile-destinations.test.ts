import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isIP } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_TLS } from '../../src/delivery/channel.ts'
import { checkUrl } from '../../src/delivery/check-channel.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createAddressGuard } from '../../src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../src/webhooks/endpoint.ts'
import { HOSTILE_ANSWERS, HOSTILE_HOSTS } from './hostile-destinations.ts'

let answers: readonly string[] = ['93.184.216.34']
const guard = createAddressGuard({
  allowedCidrs: [],
  resolve: () =>
    Promise.resolve(answers.map((address) => ({ address, family: isIP(address.replace(/%.*/, '')) }))),
})
const endpoint = createWebhookEndpoint(guard, systemClock)
let calls = 0
const inside = createServer((_request, response) => {
  calls += 1
  response.end()
})

beforeAll(() => new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve)))
afterAll(async () => {
  await endpoint.close()
  inside.close()
})

async function reasonAtConnection(url: string): Promise<string> {
  const { outcome } = await endpoint.send(
    {
      url,
      headers: {},
      secrets: [],
      tls: SYSTEM_TLS,
      body: Buffer.from('[]'),
      webhookId: 'msg_1',
      timestampSeconds: 1,
    },
    { timeoutMs: 2000 },
  )
  return outcome.kind === 'unreachable' ? outcome.reason : outcome.kind
}

describe('destinations that lead inside', () => {
  it('are more than a hundred', () => {
    expect(new Set(HOSTILE_HOSTS).size).toBeGreaterThan(100)
  })

  it.each(HOSTILE_HOSTS)(
    'are refused when a channel is saved and when it connects: %s (DL-10)',
    async (host) => {
      const { port } = inside.address() as AddressInfo
      const url = `http://${host}:${port}/hook`
      await expect(checkUrl(url, guard)).rejects.toThrow(/^url: .* is in |^url: .* is outside of /)
      // As if it had been saved before the guard knew better.
      expect(await reasonAtConnection(url)).toMatch(/ is in | is outside of /)
      expect(calls).toBe(0)
    },
  )

  it.each(HOSTILE_ANSWERS.map((answer) => [answer.join(' and '), answer] as const))(
    'are refused at both when a name server answers %s (DL-10)',
    async (_title, answer) => {
      const { port } = inside.address() as AddressInfo
      const url = `http://rebinding.example:${port}/`
      answers = ['93.184.216.34']
      await expect(checkUrl(url, guard)).resolves.toBe(url)
      answers = answer
      expect(await reasonAtConnection(url)).toMatch(/^rebinding\.example leads out of bounds: /)
      await expect(checkUrl(url, guard)).rejects.toThrow(/leads out of bounds/)
      expect(calls).toBe(0)
    },
  )

  it.each([
    'http://user:password@93.184.216.34/',
    'http://93.184.216.34@127.0.0.1/',
    'http://127.0.0.1#@93.184.216.34/',
    'http://127.0.0.1\\@93.184.216.34/',
    'http:\\\\127.0.0.1/',
    'http://127.0.0.1\t/',
    'http://[::1%25lo]/',
    'gopher://93.184.216.34/',
    'ftp://93.184.216.34/',
    'file:///etc/passwd',
    'unix:///var/run/docker.sock',
    'http://93.184.216.34:99999/',
    'http://exa mple.com/',
    'http://xn--a/',
  ])('are not smuggled in by %j (DL-10)', async (url) => {
    await expect(checkUrl(url, guard)).rejects.toThrow(/^url: /)
  })
})
