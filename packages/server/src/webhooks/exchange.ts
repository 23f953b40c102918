import { errors, type Dispatcher } from 'undici'

/** Bytes of an answer that the attempt log keeps. */
const KEPT_BYTES = 1024
/** Bytes that are read so that the connection can be used again; a longer answer costs its connection. */
const READ_BYTES = 16 * 1024
/** Milliseconds for a body; the status has been decided by then. */
const READ_MS = 1000

/** What came back. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | string[] | undefined
  /** The first bytes of the body. */
  readonly beginning: Uint8Array
}

/**
 * One request and its answer, null if none has begun by the deadline. Whatever the body does, it is let go after a bound
 * of bytes and time, and what breaks after the status concerns nobody (DL-2). Rejects with what broke before.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let head: Omit<Answer, 'beginning'> | null = null
    const parts: Uint8Array[] = []
    let bytes = 0
    let isLetGo = false
    let timer = setTimeout(letGo, timeoutMs)

    function finish(): void {
      clearTimeout(timer)
      resolve(head && { ...head, beginning: Buffer.concat(parts) })
    }

    function letGo(): void {
      isLetGo = true
      finish()
      controller?.abort(new errors.RequestAbortedError())
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        // undici has nothing to abort before the connection is made or has failed, measured as 10 s for a name server
        // that does not answer; the request is not sent any more then.
        if (isLetGo) started.abort(new errors.RequestAbortedError())
      },
      onResponseStart(_, status, headers) {
        if (status < 200) return
        clearTimeout(timer)
        timer = setTimeout(letGo, READ_MS)
        head = { status, retryAfter: headers['retry-after'] }
      },
      onResponseData(_, part) {
        if (bytes < KEPT_BYTES) parts.push(part.subarray(0, KEPT_BYTES - bytes))
        bytes += part.byteLength
        if (bytes > READ_BYTES) letGo()
      },
      onResponseEnd: finish,
      onResponseError(_, error) {
        if (head === null) reject(error)
        finish()
      },
    })
  })
}
