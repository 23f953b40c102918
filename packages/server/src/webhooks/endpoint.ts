import { errors, request, type Agent, type Dispatcher } from 'undici'
import type { DeliveryRequest, Endpoint, Outcome, SendReport } from '../delivery/outcome.ts'
import type { Clock } from '../platform/clock.ts'
import type { AddressGuard } from './address-guard.ts'
import { createAgents } from './agents.ts'
import { readBeginning } from './read-beginning.ts'
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
  const refused = guard.refuseLiteral(new URL(delivery.url))
  if (refused !== null) return { outcome: { kind: 'unreachable', reason: refused }, answer: NOTHING }
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  let response: Dispatcher.ResponseData
  try {
    const sent = request(delivery.url, {
      dispatcher: agent,
      method: 'POST',
      headers: headersOf(delivery),
      body: delivery.body,
      signal: deadline.signal,
    })
    response = await Promise.race([sent, whenAborted(deadline.signal)])
  } catch (error) {
    const outcome: Outcome = deadline.signal.aborted
      ? { kind: 'timed_out' }
      : { kind: 'unreachable', reason: reasonOf(error) }
    return { outcome, answer: NOTHING }
  } finally {
    clearTimeout(timer)
  }
  const answer = await readBeginning(response.body)
  return { outcome: outcomeOf(response, clock), answer }
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

/**
 * Rejects at the deadline. undici itself notices an abort only once the connection is made or has failed, measured as
 * 10 s for a name server that does not answer; the request is not sent any more then.
 */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('deadline')), { once: true })
  })
}

/** DL-2: 200 to 209, and nothing else. */
function outcomeOf({ statusCode: status, headers }: Dispatcher.ResponseData, clock: Clock): Outcome {
  if (status >= 200 && status <= 209) return { kind: 'acknowledged', status }
  return { kind: 'refused', status, retryAfterMs: retryAfterMs(headers['retry-after'], clock.now()) }
}

function reasonOf(error: unknown): string {
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
