import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { receiveWebhooks, type Receiver } from '../../src/demo/receive-webhooks.ts'

const key = Buffer.alloc(24, 7)
let said: string[]
let receiver: Receiver
beforeEach(async () => {
  said = []
  receiver = await receiveWebhooks({
    port: 0,
    secret: () => `whsec_${key.toString('base64')}`,
    say: (line) => said.push(line),
  })
})
afterEach(() => receiver.stop())

async function call(path: string, body: string, signedBody = body): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${signedBody}`).digest('base64')
  const answer = await fetch(`http://127.0.0.1:${receiver.port}${path}`, {
    method: 'POST',
    body,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
  })
  return answer.status
}
const messages = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ event_id: index + 1 })))

describe('the local receiver', () => {
  it('acknowledges a genuine call and says what it got, in one line', async () => {
    expect(await call('/accepted', messages(5))).toBe(200)
    expect(await call('/accepted', messages(1))).toBe(200)
    expect(said).toEqual(['received 5 messages, event ids 1, 2, 3, …', 'received 1 message, event ids 1'])
  })

  it('refuses a call whose body was changed (DL-1)', async () => {
    expect(await call('/accepted', messages(2), messages(1))).toBe(401)
  })

  it('refuses everything on its refusing path, so that dead letters can be seen (DL-5)', async () => {
    expect(await call('/refused', messages(2))).toBe(503)
  })

  it('takes a free port when the wished one is in use', async () => {
    const second = await receiveWebhooks({ port: receiver.port, secret: () => null, say: () => undefined })
    expect(second.port).not.toBe(receiver.port)
    await second.stop()
  })
})
