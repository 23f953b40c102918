interface MillraceErrorFields {
  readonly status: number
  readonly code: number
  readonly details: readonly unknown[]
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null
}

/**
 * A refusal by the service (ER-1). `code` is the google.rpc code number, `status` the HTTP status,
 * `message` names the field at fault and what is allowed, `requestId` finds the request in the service's log.
 */
export class MillraceError extends Error {
  override readonly name = 'MillraceError'
  readonly status: number
  readonly code: number
  readonly details: readonly unknown[]
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(message: string, fields: MillraceErrorFields) {
    super(message)
    this.status = fields.status
    this.code = fields.code
    this.details = fields.details
    this.requestId = fields.requestId
    this.retryAfterSeconds = fields.retryAfterSeconds
  }
}

/** Reads the error of a non-2xx answer, whatever sits between us and the service. */
export async function errorFromAnswer(answer: Response): Promise<MillraceError> {
  const text = await answer.text()
  let body: { code?: unknown; message?: unknown; details?: unknown } = {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) body = parsed
  } catch {
    // A proxy answers in HTML; its text is the best message there is.
  }
  const message =
    typeof body.message === 'string' ? body.message : text.slice(0, 300).trim() || answer.statusText
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN)
  return new MillraceError(message, {
    status: answer.status,
    code: typeof body.code === 'number' ? body.code : 2,
    details: Array.isArray(body.details) ? body.details : [],
    requestId: answer.headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : null,
  })
}
