import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One call that a receiver got. */
export interface Delivered {
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A customer's endpoint on loopback. */
export interface Receiver {
  readonly url: string
  readonly calls: readonly Delivered[]
  /** What it answers from now on; `null` never answers. */
  answer: number | null
  /** Resolves when `count` calls have come in all. */
  received(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts a receiver that answers 200. */
export async function startReceiver(): Promise<Receiver> {
  const calls: Delivered[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      calls.push({ headers: request.headers, text: Buffer.concat(chunks).toString() })
      if (receiver.answer !== null) response.writeHead(receiver.answer).end()
      for (const check of waiting) check()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls,
    answer: 200,
    received: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (calls.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}
