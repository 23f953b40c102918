import type { CacheStats } from '../cache/cache-policy.ts'

/**
 * `Server-Timing` (W3C): where the answer came from, the stages where it was computed for this request, and the time
 * from the request to the answer, before it is written out. Times in milliseconds.
 */
export function cacheTiming(
  { details }: CacheStats,
  totalMs: number,
  stagesMs?: Readonly<Record<string, number>>,
): string {
  let stages = ''
  for (const stage in stagesMs) stages += `${stage};dur=${round(stagesMs[stage] ?? 0)}, `
  return `cache;desc="${details?.source ?? 'computed'}", ${stages}total;dur=${round(totalMs)}`
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
