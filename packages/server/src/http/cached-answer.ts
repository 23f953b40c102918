import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib'
import type { AskAgain, Cached, CachePolicy } from '../cache/cache-policy.ts'
import { giveBackAnswerMemory, ownAnswerMemory } from './answer-memory.ts'
import { AnswerParts } from './answer-parts.ts'
import { cacheTiming } from './cache-timing.ts'
import type { ReadyAgain } from './repeats.ts'
import type { RouteContext } from './route.ts'

type Context = Pick<
  RouteContext<unknown, unknown, unknown>,
  'headers' | 'setHeader' | 'whenSent' | 'isInterfacePrefix' | 'offerAgain'
>

/** What a handler returns instead of an answer that the caller has already. */
export const NOT_MODIFIED = Symbol('not modified')

const brotli = promisify(brotliCompress)
const zstd = promisify(zstdCompress)
const zip = promisify(gzip)
type Compress = (bytes: Uint8Array) => Promise<Uint8Array>

const COMPRESSIONS: Readonly<Record<'br' | 'zstd' | 'gzip', Compress>> = {
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zstd(bytes),
  gzip: (bytes) => zip(bytes),
}

/** For bytes that are sent once: they are waited for, and few enough that another thread would take longer to be asked. */
const QUICK_COMPRESSIONS: Readonly<Record<'br' | 'zstd' | 'gzip', (bytes: Uint8Array) => Uint8Array>> = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  // Answers repeat themselves at short distances: a window of 8 KiB finds as much as one of 32, and takes less to set up.
  gzip: (bytes) => gzipSync(bytes, { level: 1, windowBits: 13 }),
}
const QUICK_BYTES_MIN = 1024
const QUICK_BYTES_MAX = 128 * 1024

/**
 * Answers with what came through the cache. A stored answer is rendered and compressed once for each encoding, and sent as these bytes from then
 * on. `ETag` stands for the content, whatever its statistics; a caller who has it already is answered 304. `Cache-Control` and `Age` say
 * what the caller's own policy says (RFC 9111, RFC 5861).
 */
export async function cachedAnswer<Value>(
  context: Context,
  cached: Cached<Value>,
  policy: CachePolicy,
  toWire: () => unknown,
): Promise<unknown> {
  const { etag, stats } = cached
  const { headers, setHeader, isInterfacePrefix } = context
  if (etag === null) {
    setHeader('cache-control', 'no-store')
    return quickAnswer(context, await toWire())
  }
  setHeader('cache-control', cacheControl(policy))
  setHeader('etag', etag)
  setHeader('age', ageOf(cached))
  if (isKnown(etag, headers['if-none-match'])) return NOT_MODIFIED
  if (!stats.isCached) return quickAnswer(context, await toWire())
  const encoding = chooseEncoding(headers['accept-encoding'])
  const compress = encoding === null ? plain : stats.isRefreshing ? quickly(encoding) : COMPRESSIONS[encoding]
  const bytes = await cached.rendered(variantOf(cached, isInterfacePrefix, encoding), () =>
    Promise.resolve(toWire()).then((answer) => compressed(toBytes(answer), compress)),
  )
  for (const [name, value] of formHeaders(encoding)) setHeader(name, value)
  if (!stats.isRefreshing) context.offerAgain?.(readyAgain(cached.again, policy, isInterfacePrefix, encoding))
  return bytes
}

/** What the bytes were written in is given back. */
async function compressed(bytes: Uint8Array, compress: Compress): Promise<Uint8Array> {
  const made = await compress(bytes)
  giveBackAnswerMemory(bytes)
  return made
}

/** For bytes that are given until the refresh ends, which may be before they were compressed well. */
function quickly(encoding: keyof typeof COMPRESSIONS): Compress {
  return (bytes) =>
    bytes.byteLength > QUICK_BYTES_MAX
      ? COMPRESSIONS[encoding](bytes)
      : Promise.resolve(QUICK_COMPRESSIONS[encoding](bytes))
}

/** An answer that was computed for this request alone. Short ones need no compression; long ones are left to the application. */
function quickAnswer({ headers, setHeader, whenSent }: Context, given: unknown): unknown {
  const answer = given instanceof AnswerParts ? given.body(setHeader, 'lent') : given
  if (answer instanceof Readable) return answer
  const encoding = chooseEncoding(headers['accept-encoding'])
  const bytes = encoding === null ? null : toBytes(answer)
  const isQuick = bytes && bytes.byteLength >= QUICK_BYTES_MIN && bytes.byteLength <= QUICK_BYTES_MAX
  if (encoding === null || !isQuick) {
    if (answer instanceof Uint8Array) whenSent(() => giveBackAnswerMemory(answer))
    return answer
  }
  for (const [name, value] of formHeaders(encoding)) setHeader(name, value)
  const made = QUICK_COMPRESSIONS[encoding](bytes)
  giveBackAnswerMemory(bytes)
  return made
}

/** The same answer for an equal request, as long as its bytes are kept. Holds nothing of the answer itself. */
function readyAgain(
  again: AskAgain<unknown>,
  policy: CachePolicy,
  isInterfacePrefix: boolean,
  encoding: Encoding,
): ReadyAgain {
  const always = [...formHeaders(encoding).flat(), 'cache-control', cacheControl(policy)]
  return () => {
    const startedAt = performance.now()
    const cached = again()
    const bytes = cached?.rendering(variantOf(cached, isInterfacePrefix, encoding))
    if (!cached?.etag || !bytes) return null
    const timing = cacheTiming(cached.stats, performance.now() - startedAt)
    const headers = [...always, 'etag', cached.etag, 'age', ageOf(cached), 'server-timing', timing]
    return { headers, bytes }
  }
}

function ageOf({ stats }: Cached<unknown>): string {
  return String(Math.floor((stats.details?.ageMs ?? 0) / 1000))
}

function formHeaders(encoding: Encoding): readonly (readonly [name: string, value: string])[] {
  return [
    ['content-type', 'application/json; charset=utf-8'],
    ['vary', 'accept-encoding'],
    ['content-encoding', encoding ?? 'identity'],
  ]
}

function variantOf(cached: Cached<unknown>, isInterfacePrefix: boolean, encoding: Encoding): string {
  return `${isInterfacePrefix} ${encoding} ${told(cached)}`
}

/** `max-age` counts, with `Age`, from the computation; what is served stale then is renewed. */
function cacheControl({ ttlSeconds, refreshTtlSeconds }: CachePolicy): string {
  const fresh = Math.floor(refreshTtlSeconds)
  const stale = Math.floor(ttlSeconds) - fresh
  return `private, max-age=${fresh}, stale-while-revalidate=${stale}, stale-if-error=${stale}`
}

/** Weak comparison (RFC 9110, 13.1.2). */
function isKnown(etag: string, header: string | readonly string[] | undefined): boolean {
  const opaque = etag.replace(/^W\//, '')
  return [header ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === opaque)
}

type Encoding = keyof typeof COMPRESSIONS | null

/** Few different headers are sent, and many times each. */
const chosen = new Map<string, Encoding>()
const CHOSEN_MAX = 1000

function chooseEncoding(header: string | readonly string[] | undefined): Encoding {
  const text = [header ?? ''].flat().join(',')
  const known = chosen.get(text)
  if (known !== undefined) return known
  const encoding = readEncoding(text)
  if (chosen.size >= CHOSEN_MAX) chosen.clear()
  chosen.set(text, encoding)
  return encoding
}

function readEncoding(header: string): Encoding {
  const accepted = new Set(
    header
      .split(',')
      .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
      .map((each) => each.split(';')[0]?.trim().toLowerCase()),
  )
  for (const encoding of ['br', 'zstd', 'gzip'] as const) if (accepted.has(encoding)) return encoding
  return accepted.has('*') ? 'gzip' : null
}

/** What an answer says of itself beyond what stays the same as long as it is kept. */
function told({ stats: { isRefreshing, details } }: Cached<unknown>): string {
  const { source, expiresAt, failure } = details ?? {}
  const failed = failure ? `${failure.attempts} ${failure.retryAt} ${failure.message}` : ''
  return `${isRefreshing} ${source} ${expiresAt} ${failed}`
}

function plain(bytes: Uint8Array): Promise<Uint8Array> {
  return Promise.resolve(ownAnswerMemory(bytes))
}

function toBytes(answer: unknown): Uint8Array {
  if (answer instanceof AnswerParts) return answer.whole()
  return answer instanceof Uint8Array ? answer : Buffer.from(JSON.stringify(answer))
}
