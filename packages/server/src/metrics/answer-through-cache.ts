import type {
  AnswerScope,
  AskAgain,
  Cached,
  CachePolicy,
  CacheStats,
  ResultCache,
} from '../cache/cache-policy.ts'
import type { Reading } from '../cache/snapshot.ts'
import type { Clock } from '../platform/clock.ts'
import type { ComputedAnswer, Explanation } from './compute-answer.ts'
import type { RangeAnswer } from './range-answer.ts'

/** A request whose answer may be kept. */
export interface CacheableRequest {
  readonly key: string
  readonly projectId: number
  readonly version: number
  /** An explained answer is computed, neither taken from the cache nor kept. */
  readonly isExplained: boolean
  /** Throws for what cannot be answered at that time, whatever is stored. */
  check(nowMs: number): void
  scope(nowMs: number): AnswerScope
  compute(nowMs: number, reading: Reading, signal: AbortSignal): Promise<ComputedAnswer>
}

/** An answer and where it came from. */
export interface AnswerOutcome {
  readonly answer: RangeAnswer
  readonly stats: CacheStats
  /** Absent for an answer that holds an error, which is not kept. */
  readonly cached?: Cached<RangeAnswer>
  /** How it was computed; null where it was not computed for this caller. */
  readonly explanation: Explanation | null
  /** Milliseconds from the request to the answer. */
  readonly totalMs: number
}

/** Asks again, unless the request cannot be answered any more. Holds nothing of an answer. */
function checkedAgain(
  again: AskAgain<RangeAnswer>,
  check: CacheableRequest['check'],
  clock: Clock,
): AskAgain<RangeAnswer> {
  return () => {
    try {
      check(clock.now())
    } catch {
      return null
    }
    return again()
  }
}

/** An answer that holds an error is not cached (CA-4): it leaves the cache as a failure. */
class UncachedAnswer extends Error {
  override readonly name = 'UncachedAnswer'
  readonly answer: RangeAnswer
  readonly stats: CacheStats

  constructor(answer: RangeAnswer, stats: CacheStats) {
    super(`Not cached: ${answer.results.find(({ error }) => error !== null)?.error}`)
    this.answer = answer
    this.stats = stats
  }
}

/** Answers a request from the cache or by computing; stops computing when the caller who made it begin goes away. */
export async function answerThroughCache(
  { cache, clock }: { readonly cache: ResultCache; readonly clock: Clock },
  request: CacheableRequest,
  policy: CachePolicy,
  signal: AbortSignal,
): Promise<AnswerOutcome> {
  const { key, projectId, version } = request
  // A request that cannot be answered is refused before the cache is asked.
  request.check(clock.now())
  const askedAt = clock.monotonic()
  let explanation: Explanation | null = null

  async function compute(nowMs: number, reading: Reading): Promise<RangeAnswer> {
    const startedAt = clock.monotonic()
    const computed = await request.compute(nowMs, reading, stop.signal)
    explanation = computed.explanation
    const { answer } = computed
    if (answer.results.every(({ error }) => error === null)) return answer
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    const stats = { computedAt: nowMs, isCached: false, isRefreshing: false, computeCostMs }
    throw new UncachedAnswer(answer, stats)
  }

  // The cache computes on behalf of others too, also after this caller has its answer.
  const stop = new AbortController()
  const abort = () => stop.abort()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const chosen = request.isExplained ? { ...policy, isBypassed: true, isRefreshForced: false } : policy
  const spent = () => clock.monotonic() - askedAt
  try {
    const question = { key, owner: { projectId, version }, scope: request.scope, compute }
    const found = await cache.through(question, chosen)
    const { value: answer, stats } = found
    const cached = { ...found, again: checkedAgain(found.again, request.check, clock) }
    return { answer, stats, cached, explanation: stats.isCached ? null : explanation, totalMs: spent() }
  } catch (error) {
    if (!(error instanceof UncachedAnswer)) throw error
    return { answer: error.answer, stats: error.stats, explanation, totalMs: spent() }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
