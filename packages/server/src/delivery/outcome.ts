import type { Destination } from './channel.ts'

/** What became of one request to a receiver. A value, not an exception: all of these are everyday business. */
export type Outcome =
  | { readonly kind: 'acknowledged'; readonly status: number }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterMs: number | null }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'unreachable'; readonly reason: string }

/** What an outcome says about whom: nobody, the endpoint, the content, its size, or that the endpoint is gone (DL-3, DL-4). */
export const VERDICTS = ['acknowledged', 'endpoint', 'content', 'too_large', 'gone'] as const
export type Verdict = (typeof VERDICTS)[number]

const VERDICT_OF_STATUS: Readonly<Record<number, Verdict>> = {
  400: 'content',
  410: 'gone',
  413: 'too_large',
  415: 'content',
  422: 'content',
}

/** Classifies an outcome; whatever is not listed concerns the endpoint. */
export function verdictOf(outcome: Outcome): Verdict {
  if (outcome.kind === 'acknowledged') return 'acknowledged'
  if (outcome.kind === 'refused') return VERDICT_OF_STATUS[outcome.status] ?? 'endpoint'
  return 'endpoint'
}

/** One line for people: what went wrong, or the status. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'acknowledged':
    case 'refused':
      return `the endpoint answered ${outcome.status}`
    case 'timed_out':
      return 'no answer within the deadline'
    case 'unreachable':
      return outcome.reason
  }
}

/** A request to a receiver, before it is signed. */
export interface DeliveryRequest extends Destination {
  readonly body: Uint8Array
  /** Stable over retries of the same content (DL-1). */
  readonly webhookId: string
  /** Unix seconds of this attempt. */
  readonly timestampSeconds: number
}

/** An outcome with what the attempt log keeps (DL-11). */
export interface SendReport {
  readonly outcome: Outcome
  readonly durationMs: number
  /** The first bytes of the answer's body. */
  readonly answer: Uint8Array
}

/** Sends requests to receivers. Never throws. */
export interface Endpoint {
  send(request: DeliveryRequest, options: { readonly timeoutMs: number }): Promise<SendReport>
}
