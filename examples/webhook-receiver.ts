// Receives webhooks, verifies that the service sent them, and keeps the newest message of every event id.
//   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver.ts
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
if (secret === '') throw new Error('WEBHOOK_SECRET must be the secret of the channel, whsec_…')
const latest = new Map<number, unknown>()
/** Above the largest call, one of 8 MiB. */
const MAX_BYTES = 16 * 1024 * 1024

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await read(request)
  if (body === null) {
    response.writeHead(413).end()
    return
  }
  try {
    for (const { event_id, data, retracted } of verifyWebhook(request.headers, body, secret)) {
      // A repeated event_id replaces what came before; the same message may come twice.
      if (retracted === true) latest.delete(event_id)
      else latest.set(event_id, data)
    }
    // Within five seconds, or the call is repeated: slow work belongs behind a queue of your own.
    response.writeHead(204).end()
    console.log(`${latest.size} events`)
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end()
  }
}

/** The bytes as they came, which is what the signature is over; null when there are too many. */
async function read(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).byteLength
    if (bytes > MAX_BYTES) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

const server = createServer((request, response) => {
  if (request.method === 'GET') response.end(JSON.stringify(Object.fromEntries(latest)))
  else receive(request, response).catch(() => response.destroy())
})
const port = Number(process.env['PORT'] ?? 9000)
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
