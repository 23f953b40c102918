import { AssertionError } from 'node:assert'
import { errors, type Agent, type Dispatcher } from 'undici'
import type { DeliveryRequest, Endpoint, Outcome, SendReport } from '../delivery/outcome.ts'
import type { Clock } from '../platform/clock.ts'
import type { AddressGuard } from './address-guard.ts'
import { createAgents, HEADERS_BYTES_MAX } from './agents.ts'
import { exchange, type Answer } from './exchange.ts'
import { retryAfterMs } from './retry-after.ts'
import { signatureHeaders } from './signature.ts'

/** An {@link Endpoint} with connections to give back. */
export interface WebhookEndpoint extends Endpoint {
  close(): Promise<void>
}

const NOTHING = new Uint8Array()

/**
 * Sends webhooks over HTTP. No redirects are followed, nothing is decompressed, no proxy of the environment is used,
 * and the guard sees every address before it is connected to (DL-2, DL-10).
 */
export function createWebhookEndpoint(guard: AddressGuard, clock: Clock): WebhookEndpoint {
  const agents = createAgents(guard)
  return {
    async send(delivery, { timeoutMs }) {
      const startedAt = clock.monotonic()
      const { outcome, answer } = await sendOnce(
        agents.agentFor(delivery.tls),
        guard,
        delivery,
        timeoutMs,
        clock,
      )
      return { outcome, answer, durationMs: clock.monotonic() - startedAt }
    },
    close: () => agents.destroy(),
  }
}

async function sendOnce(
  agent: Agent,
  guard: AddressGuard,
  delivery: DeliveryRequest,
  timeoutMs: number,
  clock: Clock,
): Promise<Omit<SendReport, 'durationMs'>> {
  const url = new URL(delivery.url)
  const refused = guard.refuseLiteral(url)
  if (refused !== null) return { outcome: { kind: 'unreachable', reason: refused }, answer: NOTHING }
  const request: Dispatcher.DispatchOptions = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: headersOf(delivery),
    body: delivery.body,
  }
  try {
    const answer = await exchange(agent, request, timeoutMs)
    if (answer === null) return { outcome: { kind: 'timed_out' }, answer: NOTHING }
    return { outcome: outcomeOf(answer, clock), answer: answer.beginning }
  } catch (error) {
    return { outcome: { kind: 'unreachable', reason: reasonOf(error) }, answer: NOTHING }
  }
}

/** The headers that a request is sent with, its signatures among them (DL-1). */
export function headersOf(delivery: DeliveryRequest): Readonly<Record<string, string>> {
  return {
    'user-agent': 'millrace',
    ...delivery.headers,
    'content-type': 'application/json',
    ...signatureHeaders(delivery, delivery.secrets),
  }
}

/** DL-2: 200 to 209, and nothing else. */
function outcomeOf({ status, retryAfter }: Answer, clock: Clock): Outcome {
  if (status >= 200 && status <= 209) return { kind: 'acknowledged', status }
  return { kind: 'refused', status, retryAfterMs: retryAfterMs(retryAfter, clock.now()) }
}

function reasonOf(error: unknown): string {
  // undici reads statuses below 100 and fails an assertion about them.
  if (error instanceof AssertionError) return 'Response does not match the HTTP/1.1 protocol'
  if (error instanceof errors.HeadersOverflowError)
    return `the headers of the answer are longer than ${HEADERS_BYTES_MAX / 1024} KiB`
  if (error instanceof errors.SocketError) return `the connection broke: ${error.message}`
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (isTlsError(error)) return `TLS failed: ${error.reason}${TLS_HINTS[error.code] ?? ''}`
  return error instanceof Error ? error.message : String(error)
}

/** What Node makes of an error of OpenSSL, whose message names its source files. */
interface TlsError {
  readonly library: string
  readonly reason: string
  readonly code: string
}

function isTlsError(error: unknown): error is TlsError {
  return error instanceof Error && 'library' in error && 'reason' in error && 'code' in error
}

const TLS_HINTS: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: '; does the endpoint speak http, without TLS?',
}
