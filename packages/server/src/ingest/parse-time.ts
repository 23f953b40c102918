/** Instants are kept from 1900 on, where the engine's DateTime64 begins, to the end of 2254, the last year whose microseconds are exact in a number. */
export const EARLIEST_MICROS = Date.UTC(1900, 0, 1) * 1000
export const LATEST_MICROS = Date.UTC(2255, 0, 1) * 1000 - 1

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Microseconds since 1970 of an RFC 3339 instant; digits beyond microseconds must be zeros. Undefined for anything else, days such as 30 February included. */
export function parseTime(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (!match) return undefined
  const [, date = '', time = '', fraction = '', sign = '+', hours = '00', minutes = '00'] = match
  const written = `${date}T${time}`
  const localMs = Date.parse(`${written}Z`)
  if (Number.isNaN(localMs) || new Date(localMs).toISOString().slice(0, 19) !== written) return undefined
  if (Number(hours) > 23 || Number(minutes) > 59 || /[1-9]/.test(fraction.slice(6))) return undefined
  const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const micros = (localMs - offsetMs) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
  return micros < EARLIEST_MICROS || micros > LATEST_MICROS ? undefined : micros
}

let lastSecond = Number.NaN
let lastText = ''

/** An instant as the engine reads it, `2026-01-31 12:00:00.000001`. Records of a block share their second: the last one is kept. */
export function formatMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')
  }
  return `${lastText}.${String(micros - second * 1_000_000).padStart(6, '0')}`
}
