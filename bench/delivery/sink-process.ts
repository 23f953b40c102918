/**
 * A receiver as a process of its own, so that what it costs is not counted as the worker's. Each channel has an address
 * of its own (127.x.y.z), as real receivers have. Messages carry their number and the instant they were enqueued.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { createArrivalLog } from './arrival-log.ts'
import { SENT_AT_HEADER } from './post.ts'
import type { SinkOrder, SinkReport } from './sink.ts'
import { tell } from './tell.ts'

interface Payload {
  readonly data?: { readonly n: number; readonly at: number }
  readonly n?: number
  readonly at?: number
}

let behaviour = { latencyMs: 0, hanging: new Set<string>(), isDown: false }
let seen = new Uint8Array(1024)
let healthyFrom = 0
const arrivals = createArrivalLog()
let distinct = 0
let messages = 0
let calls = 0
let firstAt = 0
let lastAt = 0
let refused = 0
let perSecond = new Map<number, { calls: number; messages: number }>()
/** Messages in each of the first calls, by channel. */
let firstBatches = new Map<string, number[]>()
const FIRST_BATCHES = 8

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('error', () => {})
  response.on('error', () => {})
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const arrivedAt = nowMs()
    const isHanging = behaviour.hanging.has(request.url ?? '')
    if (isHanging) return
    if (behaviour.isDown) {
      refused += 1
      respond(response, 503)
      return
    }
    const sentAt = Number(request.headers[SENT_AT_HEADER] ?? arrivedAt)
    take(request.url ?? '', Buffer.concat(parts).toString(), sentAt, arrivedAt)
    respond(response, 204)
  })
})

function respond(response: ServerResponse, status: number): void {
  if (behaviour.latencyMs === 0) response.writeHead(status).end()
  else setTimeout(() => response.writeHead(status).end(), behaviour.latencyMs)
}

function take(url: string, body: string, sentAt: number, arrivedAt: number): void {
  const parsed = JSON.parse(body) as Payload | readonly Payload[]
  const list = Array.isArray(parsed) ? (parsed as readonly Payload[]) : [parsed as Payload]
  calls += 1
  firstAt ||= arrivedAt
  lastAt = arrivedAt
  const second = Math.floor(arrivedAt / 1000)
  const { calls: callsBefore, messages: messagesBefore } = perSecond.get(second) ?? { calls: 0, messages: 0 }
  perSecond.set(second, { calls: callsBefore + 1, messages: messagesBefore + list.length })
  const batches = firstBatches.get(url) ?? []
  if (batches.length < FIRST_BATCHES) firstBatches.set(url, [...batches, list.length])
  for (const one of list) {
    const { n, at } = one.data ?? (one as { n: number; at: number })
    messages += 1
    if (n >= seen.length) {
      const larger = new Uint8Array(Math.max(seen.length * 2, n + 1))
      larger.set(seen)
      seen = larger
    }
    if (seen[n] === 0) distinct += 1
    seen[n] = Math.min(255, (seen[n] ?? 0) + 1)
    if (at >= healthyFrom) arrivals.add(n, at, sentAt, arrivedAt)
  }
}

/** Milliseconds of the clock that all processes of a machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

process.on('message', (order: SinkOrder) => {
  switch (order.kind) {
    case 'behave':
      behaviour = {
        latencyMs: order.latencyMs,
        hanging: new Set(order.hanging.map((channel) => `/${channel}`)),
        isDown: order.isDown,
      }
      tell({})
      break
    case 'reset':
      seen = new Uint8Array(1024)
      arrivals.clear()
      distinct = messages = calls = refused = firstAt = lastAt = 0
      perSecond = new Map()
      firstBatches = new Map()
      healthyFrom = order.arrivalsFrom
      tell({})
      break
    case 'report': {
      const report: SinkReport = {
        distinct,
        messages,
        calls,
        firstAt,
        lastAt,
        arrivals: order.withArrivals ? arrivals.list() : [],
        perSecond: [...perSecond]
          .map(([second, one]): [number, number, number] => [second, one.calls, one.messages])
          .toSorted(([a], [b]) => a - b),
        refused,
        firstBatches: Array.from({ length: FIRST_BATCHES }, (_, index) =>
          Math.max(0, ...firstBatches.values().map((sizes) => sizes[index] ?? 0)),
        ),
      }
      tell(report)
    }
  }
})

// Whoever measures is gone.
process.on('disconnect', () => process.exit(1))
server.listen(0, '0.0.0.0', 8192, () => tell({ port: (server.address() as AddressInfo).port }))
