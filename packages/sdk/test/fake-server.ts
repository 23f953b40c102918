import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ReceivedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What to answer; `hangUp` breaks the connection without an answer. */
export interface PlannedAnswer {
  readonly status?: number
  readonly json?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly hangUp?: boolean
}

/** A service on a real socket that answers as planned, and with `{}` when nothing is planned. */
export async function startFakeServer() {
  const requests: ReceivedRequest[] = []
  const statuses: (number | null)[] = []
  const planned: PlannedAnswer[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      requests.push({
        method: message.method ?? '',
        url: new URL(message.url ?? '', 'http://service'),
        headers: message.headers,
        body: bodyOf(message, Buffer.concat(chunks)),
      })
      const answer = planned.shift() ?? {}
      statuses.push(answer.hangUp ? null : (answer.status ?? 200))
      if (answer.hangUp) {
        message.socket.destroy()
        return
      }
      response.writeHead(answer.status ?? 200, { 'x-request-id': 'request-7', ...answer.headers })
      response.end(answer.text ?? JSON.stringify(answer.json ?? {}))
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    /** What each request was answered; null for a broken connection. */
    statuses,
    planned,
    plan: (...answers: readonly PlannedAnswer[]) => planned.push(...answers),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function bodyOf({ headers }: IncomingMessage, bytes: Buffer): string {
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}
