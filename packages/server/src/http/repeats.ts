import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Logger } from '../platform/logger.ts'
import type { Access, AccessRequest } from '../projects/access.ts'
import type { Project } from '../projects/project.ts'

/** An answer as it goes over the connection: names and values of headers in turn, and the body. */
export interface ReadyAnswer {
  readonly headers: readonly string[]
  readonly bytes: Uint8Array
}

/** Gives an answer that is ready to be sent; null where more has to be done for it. */
export type ReadyAgain = () => Promise<ReadyAnswer | null>

/** A request that was answered and may come again. */
interface Repeat {
  /** The pattern of its route, for the log. */
  readonly route: string
  readonly access: AccessRequest
  /** The project as it was then: another active version means another question. */
  readonly project: Project | null
  readonly again: ReadyAgain
}

/** Answers exact repeats before the application reads them. */
export interface Repeats {
  /** Answers a request that it knows; hands any other to `next`. */
  listen(next: RequestListener): RequestListener
  /** Remembers a request with its body, if it is one that can be recognised. */
  note(request: IncomingMessage, body: Uint8Array, repeat: Repeat): void
  /** The body of a request that was read here and then handed on; undefined for others. */
  takeBody(request: IncomingMessage): Readable | undefined
  /** From now on everything is handed on. */
  stop(): void
}

const LONGEST_BODY_BYTES = 8192
const ROOM_BYTES = 4 * 2 ** 20

/**
 * Dashboards send the same bytes again and again, and get the same bytes again and again. A request with the same address, key, accepted encodings
 * and body as one that was answered from the cache means the same question: then only access, the project, and the decision of the cache are
 * looked at anew. Whatever does not come out the same goes the whole way. Bodies are read ahead only of callers who were admitted before.
 */
export function createRepeats({
  access,
  log,
}: {
  readonly access: Access
  readonly log: Pick<Logger, 'info'>
}): Repeats {
  /** Of each caller the repeats by encodings and body; those that were noted last stand last. */
  const callers = new Map<string, Map<string, Repeat>>()
  const bodies = new WeakMap<IncomingMessage, Buffer>()
  let bytes = 0
  let isStopped = false

  function shrink(): void {
    while (bytes > ROOM_BYTES) {
      const [caller] = callers.keys()
      if (caller === undefined) return
      const known = callers.get(caller)
      const [oldest] = known?.keys() ?? []
      if (oldest === undefined) callers.delete(caller)
      else forget(caller, oldest)
    }
  }

  function forget(caller: string, body: string): void {
    const known = callers.get(caller)
    if (!known?.delete(body)) return
    bytes -= caller.length + body.length
    if (known.size === 0) callers.delete(caller)
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    repeat: Repeat,
  ): Promise<boolean> {
    const startedAt = performance.now()
    const { project } = await access.check(repeat.access)
    if (!isSame(project, repeat.project)) return false
    const ready = await repeat.again()
    if (!ready || response.destroyed) return ready !== null
    const requestId = randomUUID()
    const length = String(ready.bytes.byteLength)
    response.writeHead(200, [...ready.headers, 'content-length', length, 'x-request-id', requestId])
    response.end(ready.bytes)
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    const { route } = repeat
    log.info({ requestId, method: request.method, route, status: 200, durationMs }, 'request.answered')
    return true
  }

  function hear(
    request: IncomingMessage,
    caller: Caller,
    known: ReadonlyMap<string, Repeat>,
    response: ServerResponse,
    next: RequestListener,
  ): void {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.once('end', () => {
      const body = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
      const handOn = (): void => {
        bodies.set(request, body)
        next(request, response)
      }
      const repeat = known.get(keyOf(caller, body))
      if (!repeat) return handOn()
      // What fails here fails there, and is answered as it ought to be.
      void answer(request, response, repeat).then((isAnswered) => isAnswered || handOn(), handOn)
    })
  }

  return {
    listen: (next) => (request, response) => {
      const caller = isStopped ? null : callerOf(request)
      const known = caller && callers.get(caller.name)
      if (known) hear(request, caller, known, response, next)
      else next(request, response)
    },
    note: (request, body, repeat) => {
      const caller = callerOf(request)
      if (caller === null || body.byteLength > LONGEST_BODY_BYTES) return
      const { name } = caller
      const key = keyOf(caller, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
      forget(name, key)
      const known = callers.get(name) ?? new Map<string, Repeat>()
      // Put last, so that the first one was noted longest ago.
      callers.delete(name)
      callers.set(name, known)
      known.set(key, repeat)
      bytes += name.length + key.length
      shrink()
    },
    takeBody: (request) => {
      const body = bodies.get(request)
      return body && Readable.from([body], { objectMode: false })
    },
    stop: () => {
      isStopped = true
      callers.clear()
      bytes = 0
    },
  }
}

/** Who asks where, and in which encodings an answer is accepted. */
interface Caller {
  readonly name: string
  readonly encodings: string
}

/** By the lengths of their names the headers that say so: others need not be looked at, and none put into an object. */
const HEADERS = new Map<number, readonly string[]>()
for (const name of [
  'api-key',
  'authorization',
  'accept-encoding',
  'content-length',
  'content-encoding',
  'if-none-match',
]) {
  HEADERS.set(name.length, [...(HEADERS.get(name.length) ?? []), name])
}

/**
 * Null for a request that is not recognised: one without a key of its own in a header, conditional, with one of these headers twice, or with a body
 * that is long or does not say how long it is.
 */
function callerOf({ method, url, rawHeaders }: IncomingMessage): Caller | null {
  if (method !== 'POST') return null
  const found: Record<string, string> = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? ''
    const names = HEADERS.get(given.length)
    if (!names) continue
    const name = given.toLowerCase()
    if (!names.includes(name)) continue
    if (found[name] !== undefined) return null
    found[name] = rawHeaders[i + 1] ?? ''
  }
  if (found['if-none-match'] !== undefined || found['content-encoding'] !== undefined) return null
  if (!(Number(found['content-length']) <= LONGEST_BODY_BYTES)) return null
  const ofItsOwn = found['api-key']
  const key = ofItsOwn ?? found['authorization'] ?? ''
  if (key === '') return null
  return {
    name: `${url} ${ofItsOwn === undefined ? 'bearer' : 'key'} ${key}`,
    encodings: found['accept-encoding'] ?? '',
  }
}

function keyOf({ encodings }: Caller, body: Buffer): string {
  return `${encodings}\n${body.toString('latin1')}`
}

function isSame(project: Project | null, known: Project | null): boolean {
  if (project === known) return true
  if (!project || !known) return false
  return (Object.keys(known) as (keyof Project)[]).every((name) => project[name] === known[name])
}
