import { invalidArgument } from '../platform/errors.ts'
import type { ChannelLimits } from './channel.ts'

/** Says which destinations are out of bounds (DL-10). */
export interface DestinationGuard {
  /** Why the host must not be reached, or null. */
  refuse(url: URL): Promise<string | null>
}

const MAX_URL_LENGTH = 2048

/** Checks and normalises the address of a channel. */
export async function checkUrl(text: string, guard: DestinationGuard): Promise<string> {
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalidArgument(`url: must be an http or https URL of at most ${MAX_URL_LENGTH} characters`)
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidArgument(
      'url: must not carry a user name or password; send them in headers, e.g. authorization',
    )
  }
  const reason = await guard.refuse(url)
  if (reason !== null) {
    throw invalidArgument(
      `url: ${reason}, which webhooks may not reach; the operator of this service can allow it with MILLRACE_WEBHOOK_ALLOWED_CIDRS`,
    )
  }
  url.hash = ''
  return url.href
}

/** Set by the service or by the connection; a channel that set them would break its own requests. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
])

const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 4096

/** Checks a channel's own headers (DL-1); names come back in lower case. */
export function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers)
  if (entries.length > MAX_HEADERS) throw invalidArgument(`headers: at most ${MAX_HEADERS} are allowed`)
  const checked: Record<string, string> = {}
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(lower)) {
      throw invalidArgument(`headers: ${JSON.stringify(name)} is no header name`)
    }
    if (RESERVED_HEADERS.has(lower) || lower.startsWith('webhook-')) {
      throw invalidArgument(`headers: "${name}" is set by the service and cannot be changed`)
    }
    if (Object.hasOwn(checked, lower)) throw invalidArgument(`headers: "${name}" occurs twice`)
    if (value.length > MAX_HEADER_LENGTH || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw invalidArgument(
        `headers: the value of "${name}" must be at most ${MAX_HEADER_LENGTH} characters without line breaks or control characters`,
      )
    }
    checked[lower] = value
  }
  return checked
}

/** Bounds of the limits a channel may set. */
const LIMIT_BOUNDS: readonly (readonly [
  field: string,
  read: (limits: ChannelLimits) => number,
  min: number,
  max: number,
])[] = [
  ['maxBatchMessages', (limits) => limits.maxBatchMessages, 1, 500],
  ['maxBatchBytes', (limits) => limits.maxBatchBytes, 1024, 8 * 1024 * 1024],
  ['requestsPerSecond', (limits) => limits.requestsPerSecond ?? 1, 1, 1000],
  ['backoff.initialMs', (limits) => limits.backoff.initialMs, 10, 3_600_000],
  ['backoff.capMs', (limits) => limits.backoff.capMs, 10, 24 * 3_600_000],
  ['deadLetter.ageMs', (limits) => limits.deadLetter.ageMs, 0, 30 * 24 * 3_600_000],
  ['deadLetter.attempts', (limits) => limits.deadLetter.attempts, 1, 1000],
]

/** Checks a channel's limits. */
export function checkLimits(limits: ChannelLimits): ChannelLimits {
  for (const [field, read, min, max] of LIMIT_BOUNDS) {
    const value = read(limits)
    if (!Number.isInteger(value) || value < min || value > max) {
      throw invalidArgument(`${field}: must be an integer from ${min} to ${max}`)
    }
  }
  const { initialMs, capMs } = limits.backoff
  if (initialMs > capMs) {
    throw invalidArgument(`backoff.initialMs: must be at most backoff.capMs, which is ${capMs}`)
  }
  return limits
}
