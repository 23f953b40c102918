// Receives webhooks with Express: as ./webhook-receiver.ts does, and only the bytes come another way.
//   npm install express @millrace/sdk
//   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver-express.mjs
import process from 'node:process'
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'
import express from 'express'

const secret = process.env.WEBHOOK_SECRET ?? ''
if (secret === '') throw new Error('WEBHOOK_SECRET must be the secret of the channel, whsec_…')
const latest = new Map()
const app = express()

// Bytes, not an object, whatever they are said to be: the signature is over the bytes as they came. The limit is above the largest call, one of 8 MiB.
app.post('/', express.raw({ type: () => true, limit: '16mb' }), (request, response) => {
  for (const { event_id, data, retracted } of verifyWebhook(request.headers, request.body, secret)) {
    // A repeated event_id replaces what came before; the same message may come twice.
    if (retracted === true) latest.delete(event_id)
    else latest.set(event_id, data)
  }
  response.status(204).end()
  console.log(`${latest.size} events`)
})
app.get('/', (_request, response) => {
  response.json(Object.fromEntries(latest))
})

app.use((error, _request, response, _next) => {
  response.status(error instanceof WebhookVerificationError ? 401 : (error.status ?? 500)).end()
})

const port = Number(process.env.PORT ?? 9000)
app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
