import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A webhook receiver on loopback that acknowledges every call at once. */
export interface Receiver {
  readonly url: string
  /** Distinct event ids received so far. */
  received(): number
  /** Messages received so far, repeated ones included. */
  messages(): number
  calls(): number
  close(): Promise<void>
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const seen = new Set<number>()
  let messages = 0
  let calls = 0
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      response.writeHead(204).end()
      calls += 1
      for (const { event_id: id } of JSON.parse(body) as readonly { readonly event_id: number }[]) {
        messages += 1
        seen.add(id)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => seen.size,
    messages: () => messages,
    calls: () => calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
