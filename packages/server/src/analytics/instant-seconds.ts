const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i
const NANOS = 9

/** An instant of RFC 3339 as seconds since 1970 in decimal digits, to the nanosecond; null for every other text. */
export function instantSeconds(text: string): string | null {
  const [, seconds = '', fraction = '', zone = ''] = INSTANT.exec(text) ?? []
  const at = Date.parse(`${seconds}${zone}`)
  if (Number.isNaN(at)) return null
  const nanos = BigInt(at / 1000) * 10n ** BigInt(NANOS) + BigInt(fraction.slice(0, NANOS).padEnd(NANOS, '0'))
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(NANOS + 1, '0')
  const whole = digits.slice(0, -NANOS)
  const rest = digits.slice(-NANOS).replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`
}
