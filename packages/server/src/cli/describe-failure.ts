import { MillraceError } from '@millrace/sdk'
import { ServiceError } from '../platform/errors.ts'

/** One or a few lines for a person: what failed, and what to do where that is known. */
export function describeFailure(error: unknown): string {
  if (error instanceof MillraceError) {
    const request = error.requestId === null ? '' : `, request ${error.requestId}`
    const hint = error.status === 401 ? '\nGive a key with --key or MILLRACE_API_KEY.' : ''
    const details = error.details.map((detail) => `\n  ${JSON.stringify(detail)}`).join('')
    return `${error.message} (status ${error.status}${request})${details}${hint}`
  }
  if (error instanceof ServiceError) return error.message
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause as NodeJS.ErrnoException | undefined
  // What `fetch` throws; its own message never says why.
  if (error instanceof TypeError && cause !== undefined && error.message === 'fetch failed') {
    const reason = cause.code ?? cause.message
    return `the service cannot be reached (${reason})\nIs it running? Give its address with --url or MILLRACE_URL.`
  }
  return error.message
}
