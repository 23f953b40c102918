/** What the service, or the way to it, refused. `status` is 0 when no answer came at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly details: readonly unknown[]
  readonly requestId: string | null

  constructor(status: number, message: string, details: readonly unknown[], requestId: string | null) {
    super(message)
    this.status = status
    this.details = details
    this.requestId = requestId
  }
}

/** One request of the public API. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

let tellSessionEnd: () => void = () => undefined

/** Has `listener` told of every answer that the session does not, or no longer, exist, whoever asked. Replaces the one before. */
export function onSessionEnd(listener: () => void): void {
  tellSessionEnd = listener
}

/** Sends a request below `/api/v1`, with the session of this browser. Throws `ApiError`, and `AbortError` when aborted. */
export async function request<Answer>(path: string, options: ApiRequest = {}): Promise<Answer> {
  const answer = await send(`/api/v1${path}`, options)
  const text = await answer.text()
  if (!answer.ok) throw refusal(answer, text)
  return (text === '' ? {} : JSON.parse(text)) as Answer
}

/** Sends a request and hands the whole answer over as a file. */
export async function requestFile(path: string, options: ApiRequest): Promise<Blob> {
  const answer = await send(`/api/v1${path}`, options)
  if (!answer.ok) throw refusal(answer, await answer.text())
  return answer.blob()
}

async function send(address: string, { method = 'GET', body, signal }: ApiRequest): Promise<Response> {
  try {
    return await fetch(address, {
      method,
      // The session's cookie counts only beside this header, which no foreign page can send.
      headers: {
        'x-millrace-session': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(
      0,
      'The service does not answer. Is it running, and is this computer online?',
      [],
      null,
    )
  }
}

function refusal(answer: Response, text: string): ApiError {
  if (answer.status === 401) tellSessionEnd()
  const requestId = answer.headers.get('x-request-id')
  try {
    const { message, details } = JSON.parse(text) as { message: string; details?: readonly unknown[] }
    return new ApiError(answer.status, message, details ?? [], requestId)
  } catch {
    return new ApiError(answer.status, `${answer.status} ${answer.statusText}`, [], requestId)
  }
}
