import { checkConnection } from './check-connection.ts'
import { errorFromAnswer, MillraceError } from './millrace-error.ts'

/** Where the service is and who asks. */
export interface Connection {
  /** E.g. `http://127.0.0.1:8080`; `/api/v1` behind it may be left out. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Instead of the global one. */
  readonly fetch?: typeof fetch
  /** Whether bodies of more than a kilobyte are sent compressed; by default they are, except to this machine. */
  readonly gzip?: boolean
}

interface RequestParts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, e.g. `/projects`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: { readonly contentType: string; readonly text: string }
  readonly signal?: AbortSignal
}

/** When to try again: waits `initialMs` × 2^(n−1), at most `maximumMs`, half of it random, or what `Retry-After` says. */
export interface RetryOptions {
  readonly initialMs?: number
  readonly maximumMs?: number
  /** Stops trying after this time and throws the last error. Without it, tries until it succeeds or is aborted. */
  readonly giveUpAfterMs?: number
  /** Called before each wait, for a log. */
  readonly onRetry?: (error: Error, attempt: number, waitMs: number) => void
}

/**
 * Sends one request to any route and returns the parsed JSON answer, null when there is none. Throws `MillraceError`
 * for every status that is not 2xx, what `fetch` throws when the service cannot be reached, and a `TypeError` for an
 * address or key that nothing can be sent with.
 */
export async function request(connection: Connection, parts: RequestParts): Promise<unknown> {
  checkConnection(connection)
  const url = new URL(connection.baseUrl.replace(/(\/api\/v1)?\/*$/, '/api/v1') + parts.path)
  for (const [name, value] of Object.entries(parts.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  const contentType = parts.json === undefined ? parts.body?.contentType : 'application/json'
  const text = parts.json === undefined ? parts.body?.text : JSON.stringify(parts.json)
  const isZipped =
    (text?.length ?? 0) > MIN_ZIPPED_LENGTH && (connection.gzip ?? !LOOPBACK.test(url.hostname))
  const body = isZipped ? await gzip(text ?? '') : text
  const answer = await (connection.fetch ?? fetch)(url, {
    method: parts.method,
    headers: {
      'api-key': connection.apiKey,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    },
    body: body ?? null,
    signal: parts.signal ?? null,
  })
  if (!answer.ok) throw await errorFromAnswer(answer)
  const answered = await answer.text()
  return answered === '' ? null : (JSON.parse(answered) as unknown)
}

const MIN_ZIPPED_LENGTH = 1024
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/

async function gzip(text: string): Promise<ArrayBuffer> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
}

const RETRYABLE_STATUSES = new Set([408, 429, 502, 503, 504])

/** True for answers and connection errors after which the same request may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof MillraceError) return RETRYABLE_STATUSES.has(error.status)
  // `fetch` reports every failure to connect, and every connection that broke, as a TypeError.
  return error instanceof TypeError || (error instanceof SyntaxError && error.message.includes('JSON'))
}

/** Repeats `request` until it succeeds or is refused for good. Only for requests that may be repeated. */
export async function requestWithRetry(
  connection: Connection,
  parts: RequestParts,
  retry: RetryOptions = {},
): Promise<unknown> {
  checkConnection(connection)
  const { initialMs = 250, maximumMs = 15_000, giveUpAfterMs = Infinity } = retry
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await request(connection, parts)
    } catch (error) {
      parts.signal?.throwIfAborted()
      if (!isRetryable(error) || !(error instanceof Error)) throw error
      const ceilingMs = Math.min(maximumMs, initialMs * 2 ** (attempt - 1))
      const askedMs = error instanceof MillraceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
      const waitMs = Math.min(maximumMs, Math.max(askedMs, ceilingMs * (0.5 + Math.random() / 2)))
      if (performance.now() - startedAt + waitMs > giveUpAfterMs) throw error
      retry.onRetry?.(error, attempt, waitMs)
      await wait(waitMs, parts.signal)
    }
  }
}

async function wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, waitMs)
    function stop() {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** `owner/name` as two path segments. */
export function projectPath(project: string): string {
  const [owner, name, ...rest] = project.split('/')
  if (!owner || !name || rest.length > 0) {
    throw new TypeError(`project must be "owner/name", got ${JSON.stringify(project)}`)
  }
  return `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
}
