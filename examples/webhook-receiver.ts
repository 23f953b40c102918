// Receives webhooks, verifies that the service sent them, and keeps the newest message of every event id.
//   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver.ts
import { createServer } from 'node:http'
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const latest = new Map<number, unknown>()

const server = createServer((message, response) => {
  const chunks: Buffer[] = []
  message.on('data', (chunk: Buffer) => chunks.push(chunk))
  message.on('end', () => {
    try {
      for (const { event_id, data, retracted } of verifyWebhook(
        message.headers,
        Buffer.concat(chunks),
        secret,
      )) {
        // A repeated event_id replaces what came before; the same message may come twice.
        if (retracted === true) latest.delete(event_id)
        else latest.set(event_id, data)
      }
      // Within five seconds, or the call is repeated: slow work belongs behind a queue of your own.
      response.writeHead(200).end()
      console.log(`${latest.size} events`)
    } catch (error) {
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end()
    }
  })
})
const port = Number(process.env['PORT'] ?? 9000)
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
