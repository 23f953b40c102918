import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Received } from '../bench.ts'

/** What a receiver may do to a call besides acknowledging it. */
export const FAULTS = [
  'refuse',
  'refuse content',
  'hang',
  'answer late',
  'drip',
  'endless body',
  'reset',
  'reset after reading',
  'redirect',
  'garbage',
] as const
type Fault = (typeof FAULTS)[number]

/** A receiver that misbehaves, on loopback. */
export interface ChaoticReceiver {
  url(channel: string): string
  /** The part of calls that meet a fault, 0 to 1. */
  faultShare: number
  readonly faults: Map<Fault, number>
  readonly calls: number
  close(): Promise<void>
}

const REFUSALS = [500, 502, 503, 429, 408, 404, 302, 210]
const CONTENT_REFUSALS = [400, 413, 415, 422]
const LATE_MS = 900

/** `receive` is told of every call that the receiver has taken in, whatever it answers then; `random` is in [0, 1). */
export async function startChaoticReceiver(
  receive: (channel: string, messages: readonly Received[]) => void,
  random: () => number,
): Promise<ChaoticReceiver> {
  let calls = 0
  const pick = <T>(options: readonly T[]): T => options[Math.floor(random() * options.length)] as T

  const server = createServer((request, response) => {
    calls += 1
    response.on('error', () => {})
    request.on('error', () => {})
    const fault = random() < receiver.faultShare ? pick(FAULTS) : null
    if (fault === 'reset') {
      request.socket.destroy()
      return
    }
    void answer(request, response, fault)
  })

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    fault: Fault | null,
  ): Promise<void> {
    const body = await readAll(request)
    if (body === null) return
    const take = () => {
      const channel = decodeURIComponent((request.url ?? '/').slice(1))
      receive(channel, JSON.parse(body) as Received[])
    }
    if (fault === null) {
      take()
      response.writeHead(pick([200, 201, 204])).end()
      return
    }
    receiver.faults.set(fault, (receiver.faults.get(fault) ?? 0) + 1)
    // A refusal does not tell whether the messages were taken; a status of 200 does.
    const isTaken = fault !== 'redirect' && fault !== 'refuse content' && random() < 0.5
    if (isTaken) take()
    misbehave(fault, isTaken ? pick([200, 500] as const) : 500, request, response)
  }

  function misbehave(
    fault: Fault,
    status: 200 | 500,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    switch (fault) {
      case 'refuse':
        response.writeHead(pick(REFUSALS), random() < 0.3 ? { 'retry-after': '1' } : {}).end('no')
        break
      case 'refuse content':
        response.writeHead(pick(CONTENT_REFUSALS)).end('{"error":"bad"}')
        break
      case 'redirect':
        response.writeHead(307, { location: request.url ?? '/' }).end()
        break
      case 'answer late':
        setTimeout(() => response.writeHead(status).end(), LATE_MS)
        break
      case 'drip': {
        response.writeHead(status)
        const timer = setInterval(() => response.write('.'), 20)
        response.on('close', () => clearInterval(timer))
        break
      }
      case 'endless body': {
        response.writeHead(status, { 'content-length': String(1 << 30) })
        const zeros = Readable.from(endless())
        zeros.on('error', () => {}).pipe(response)
        response.on('close', () => zeros.destroy())
        break
      }
      case 'garbage':
        request.socket.end('SMTP 220 hello\r\n\r\n')
        break
      case 'reset':
      case 'reset after reading':
        request.socket.destroy()
        break
      case 'hang':
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: ChaoticReceiver = {
    url: (channel) => `http://127.0.0.1:${port}/${encodeURIComponent(channel)}`,
    faultShare: 0,
    faults: new Map(),
    get calls() {
      return calls
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536)
}

/** Null when the caller broke off: then it sent nothing whole. */
function readAll(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => resolve(Buffer.concat(parts).toString()))
    request.on('close', () => resolve(null))
  })
}
