import { CHANNEL_BOUNDS } from '@millrace/contract'
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

/** The limits that a channel may set. */
const LIMITS: readonly (readonly [
  field: keyof typeof CHANNEL_BOUNDS,
  read: (limits: ChannelLimits) => number,
])[] = [
  ['maxBatchMessages', (limits) => limits.maxBatchMessages],
  ['maxBatchBytes', (limits) => limits.maxBatchBytes],
  ['requestsAtOnce', (limits) => limits.requestsAtOnce],
  ['requestsPerSecond', (limits) => limits.requestsPerSecond ?? 0],
  ['backoff.initialMs', (limits) => limits.backoff.initialMs],
  ['backoff.capMs', (limits) => limits.backoff.capMs],
  ['deadLetter.ageMs', (limits) => limits.deadLetter.ageMs],
  ['deadLetter.attempts', (limits) => limits.deadLetter.attempts],
]

/** Checks a channel's limits. */
export function checkLimits(limits: ChannelLimits): ChannelLimits {
  for (const [field, read] of LIMITS) {
    const value = read(limits)
    const { minimum, maximum } = CHANNEL_BOUNDS[field]
    if (!Number.isInteger(value) || value < minimum || value > maximum) {
      throw invalidArgument(`${field}: must be an integer from ${minimum} to ${maximum}`)
    }
  }
  const { initialMs, capMs } = limits.backoff
  if (initialMs > capMs) {
    throw invalidArgument(`backoff.initialMs: must be at most backoff.capMs, which is ${capMs}`)
  }
  return limits
}
