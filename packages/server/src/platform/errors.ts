import type { ErrorCode } from '@millrace/contract'

interface ServiceErrorOptions {
  /** What really happened. Logged under the request id, never sent. */
  readonly cause?: unknown
  /** Structured facts for the caller, e.g. the faults of a batch by index. */
  readonly details?: readonly unknown[]
  /** Seconds after which a retry makes sense; becomes the `retry-after` header. */
  readonly retryAfterSeconds?: number
}

/** An expected failure. Its `message` is meant for the caller: it names the field and what is allowed (ER-2). */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: readonly unknown[]
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Shorthand for the most frequent refusal. */
export function invalidArgument(message: string, details?: readonly unknown[]): ServiceError {
  return new ServiceError('invalid_argument', message, details ? { details } : {})
}

/** Why something was given up: what its signal says, where that is an expected failure, else that it was cancelled. */
export function cancellation(signal: AbortSignal, cause?: unknown): ServiceError {
  const reason: unknown = signal.reason
  return reason instanceof ServiceError
    ? reason
    : new ServiceError('cancelled', 'the query was cancelled', { cause })
}
