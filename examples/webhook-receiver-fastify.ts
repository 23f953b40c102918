// Receives webhooks with Fastify: as ./webhook-receiver.ts does, and only the bytes come another way.
//   npm install fastify @millrace/sdk
//   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver-fastify.ts
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'
import { fastify } from 'fastify'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
if (secret === '') throw new Error('WEBHOOK_SECRET must be the secret of the channel, whsec_…')
const latest = new Map<number, unknown>()
// Above the largest call, one of 8 MiB.
const app = fastify({ bodyLimit: 16 * 1024 * 1024 })

// Bytes, not an object: the signature is over the bytes as they came.
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
  done(null, body)
})

app.post<{ Body: Buffer }>('/', async ({ headers, body }, reply) => {
  for (const { event_id, data, retracted } of verifyWebhook(headers, body, secret)) {
    // A repeated event_id replaces what came before; the same message may come twice.
    if (retracted === true) latest.delete(event_id)
    else latest.set(event_id, data)
  }
  console.log(`${latest.size} events`)
  return reply.status(204).send()
})
app.get('/', () => Object.fromEntries(latest))

app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) =>
  reply.status(error instanceof WebhookVerificationError ? 401 : (error.statusCode ?? 500)).send(),
)

const port = Number(process.env['PORT'] ?? 9000)
console.log(await app.listen({ port, host: '127.0.0.1' }))
