import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'

/** Paths of the receiver: one acknowledges, the other always answers 503. */
export const RECEIVER_PATHS = { accepted: '/accepted', refused: '/refused' } as const

interface ReceiverOptions {
  /** Tried first; a free one is taken when it is in use. */
  readonly port: number
  /** Signing secret of the channel that is acknowledged; null while it does not exist yet. */
  secret(): string | null
  /** One line a call. */
  say(line: string): void
}

export interface Receiver {
  readonly port: number
  stop(): Promise<void>
}

/** A webhook endpoint on loopback that verifies what it gets and says what it was. */
export async function receiveWebhooks(options: ReceiverOptions): Promise<Receiver> {
  const server = createServer((message, response) => {
    readBody(message)
      .then((body) => response.writeHead(answer(message, body, options)).end())
      .catch(() => response.destroy())
  })
  await listen(server, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/** The status for a call. */
function answer(message: IncomingMessage, body: Buffer, { secret, say }: ReceiverOptions): number {
  if (message.method !== 'POST') return 405
  if (message.url === RECEIVER_PATHS.refused) {
    say(`refused ${count(parseCount(body))} with status 503, as this channel always does`)
    return 503
  }
  if (message.url !== RECEIVER_PATHS.accepted) return 404
  const key = secret()
  if (key === null) return 503
  try {
    const messages = verifyWebhook(message.headers, body, key)
    const ids = messages.slice(0, 3).map(({ event_id }) => event_id)
    say(`received ${count(messages.length)}, event ids ${ids.join(', ')}${messages.length > 3 ? ', …' : ''}`)
    return 200
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    say(`refused a call: ${error.message}`)
    return 401
  }
}

function count(messages: number): string {
  return `${messages} message${messages === 1 ? '' : 's'}`
}

function parseCount(body: Buffer): number {
  const parsed: unknown = JSON.parse(body.toString())
  return Array.isArray(parsed) ? parsed.length : 0
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function listen(server: Server, port: number): Promise<void> {
  const attempt = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await attempt(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return attempt(0)
  })
}
