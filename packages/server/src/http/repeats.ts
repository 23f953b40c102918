import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Access, AccessRequest } from '../projects/access.ts'
import type { Project } from '../projects/project.ts'
import type { AnsweredRequest } from './exposition/request-counts.ts'

/** An answer as it goes over the connection: names and values of headers in turn, and the body. */
export interface ReadyAnswer {
  readonly headers: readonly string[]
  readonly bytes: Uint8Array
}

/** Gives an answer that is ready to be sent; null where more has to be done for it. */
export type ReadyAgain = () => ReadyAnswer | null

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
 * looked at anew, in memory. Whatever does not come out the same, or has to be looked up, goes the whole way. Bodies are read ahead only of callers who were admitted before.
 */
export function createRepeats({
  access,
  noteAnswered,
}: {
  readonly access: Access
  readonly noteAnswered: (requestId: string, request: AnsweredRequest) => void
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

  /** False, and nothing done, where the request has to go the whole way. */
  function answer(request: IncomingMessage, response: ServerResponse, repeat: Repeat): boolean {
    const startedAt = performance.now()
    const admitted = access.recall(repeat.access)
    if (!admitted || !isSame(admitted.project, repeat.project)) return false
    const ready = repeat.again()
    if (!ready) return false
    const requestId = randomUUID()
    const length = String(ready.bytes.byteLength)
    response.writeHead(200, [...ready.headers, 'content-length', length, 'x-request-id', requestId])
    response.end(ready.bytes)
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    const { route } = repeat
    noteAnswered(requestId, { method: request.method ?? '', route, status: 200, durationMs })
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
      const repeat = known.get(keyOf(caller, body))
      try {
        if (repeat && answer(request, response, repeat)) return
      } catch (error) {
        // What fails here fails there, and is answered as it ought to be.
        if (response.headersSent) return void response.destroy(error as Error)
      }
      bodies.set(request, body)
      next(request, response)
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

/**
 * Null for a request that is not recognised: one without a key of its own in a header, conditional, with one of the headers that decide twice, or with
 * a body that is long or does not say how long it is. Reads the headers as they came: by the lengths of their names most need not be looked at, and none
 * is put into an object.
 */
function callerOf({ method, url, rawHeaders }: IncomingMessage): Caller | null {
  if (method !== 'POST') return null
  let ownKey: string | undefined
  let authorization: string | undefined
  let encodings: string | undefined
  let length: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    switch (name.length) {
      case 'api-key'.length:
        if (!isNamed(name, 'api-key')) break
        if (ownKey !== undefined) return null
        ownKey = value
        break
      case 'authorization'.length: // And if-none-match.
        if (isNamed(name, 'if-none-match')) return null
        if (!isNamed(name, 'authorization')) break
        if (authorization !== undefined) return null
        authorization = value
        break
      case 'accept-encoding'.length:
        if (!isNamed(name, 'accept-encoding')) break
        if (encodings !== undefined) return null
        encodings = value
        break
      case 'content-length'.length:
        if (!isNamed(name, 'content-length')) break
        if (length !== undefined) return null
        length = value
        break
      case 'content-encoding'.length:
        if (isNamed(name, 'content-encoding')) return null
    }
  }
  if (!(Number(length) <= LONGEST_BODY_BYTES)) return null
  const key = ownKey ?? authorization ?? ''
  if (key === '') return null
  return {
    name: `${url} ${ownKey === undefined ? 'bearer' : 'key'} ${key}`,
    encodings: encodings ?? '',
  }
}

function isNamed(given: string, name: string): boolean {
  return given === name || given.toLowerCase() === name
}

function keyOf({ encodings }: Caller, body: Buffer): string {
  return `${encodings}\n${body.toString('latin1')}`
}

function isSame(project: Project | null, known: Project | null): boolean {
  if (project === known) return true
  if (!project || !known) return false
  return (Object.keys(known) as (keyof Project)[]).every((name) => project[name] === known[name])
}
