/** Milliseconds of a `Retry-After` header, given in seconds or as a date (RFC 9110, 10.2.3); null when there is none. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) * 1000
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
