/**
 * The closed catalogue of error codes (ER-1). `code` is the google.rpc code number that goes on the wire,
 * `status` the HTTP status, `isRetryable` whether the same request may succeed later without a change.
 * `docs/errors.md` lists exactly these; a test keeps them equal.
 */
export const ERRORS = {
  invalid_argument: {
    code: 3,
    status: 400,
    isRetryable: false,
    title: 'A field is missing, malformed or out of range.',
  },
  payload_too_large: { code: 3, status: 413, isRetryable: false, title: 'The body exceeds the size limit.' },
  failed_precondition: {
    code: 9,
    status: 400,
    isRetryable: false,
    title: 'The request is well-formed but the state of the resource forbids it.',
  },
  unauthenticated: {
    code: 16,
    status: 401,
    isRetryable: false,
    title: 'The API key is missing, unknown, revoked or expired.',
  },
  permission_denied: {
    code: 7,
    status: 403,
    isRetryable: false,
    title: 'The API key is valid but may not do this here.',
  },
  not_found: {
    code: 5,
    status: 404,
    isRetryable: false,
    title: 'The resource does not exist, or no longer does.',
  },
  method_not_allowed: {
    code: 12,
    status: 405,
    isRetryable: false,
    title: 'The path exists, but not with this method.',
  },
  already_exists: {
    code: 6,
    status: 409,
    isRetryable: false,
    title: 'A resource with this name exists already.',
  },
  resource_exhausted: {
    code: 8,
    status: 429,
    isRetryable: true,
    title: 'A limit on rate, memory, rows or concurrency was reached.',
  },
  cancelled: {
    code: 1,
    status: 499,
    isRetryable: false,
    title: 'The caller went away or the query was cancelled.',
  },
  internal: {
    code: 13,
    status: 500,
    isRetryable: false,
    title: 'A defect of the service. The cause is in its log under the request id.',
  },
  unimplemented: { code: 12, status: 501, isRetryable: false, title: 'The service does not offer this.' },
  unavailable: {
    code: 14,
    status: 503,
    isRetryable: true,
    title: 'An engine is starting, restarting or overloaded. Retry after the time given.',
  },
  deadline_exceeded: {
    code: 4,
    status: 504,
    isRetryable: false,
    title: 'The time limit of the request was reached.',
  },
} as const satisfies Record<string, { code: number; status: number; isRetryable: boolean; title: string }>

/** The name of an error of the catalogue. */
export type ErrorCode = keyof typeof ERRORS
