const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 })
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const PRECISE = new Intl.NumberFormat('en', { maximumSignificantDigits: 7 })

/** A number in few characters: 12.4K. */
export function compactNumber(value: number): string {
  return COMPACT.format(value)
}

/** A count with its thousands apart. */
export function wholeNumber(value: number): string {
  return WHOLE.format(value)
}

/** A count with its noun: 1 row, 2,000 rows. */
export function counted(count: number, noun: string): string {
  return `${WHOLE.format(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A measured value, as a legend shows it. */
export function measuredNumber(value: number): string {
  const size = Math.abs(value)
  return size >= 1e7 ? COMPACT.format(value) : PRECISE.format(value)
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A span of time in words: 3 min, 2 d. */
export function span(ms: number): string {
  const [unit, size] = STEPS.find(([, each]) => Math.abs(ms) >= each) ?? ['ms', 1]
  const value = ms / size
  return `${value < 10 && unit !== 'ms' ? Math.round(value * 10) / 10 : Math.round(value)} ${unit}`
}

/** How long ago an instant was. */
export function ago(at: string | number, now = Date.now()): string {
  const ms = now - new Date(at).getTime()
  if (Math.abs(ms) < 1500) return 'just now'
  return ms > 0 ? `${span(ms)} ago` : `in ${span(-ms)}`
}

/** An instant in local time, to the second. */
export function localInstant(at: string | number): string {
  return new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}

/** A size in bytes in words. */
export function byteSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return `${PRECISE.format(Math.round((bytes / 1024 ** power) * 10) / 10)} ${['', 'KiB', 'MiB', 'GiB', 'TiB'][power] ?? ''}`
}
