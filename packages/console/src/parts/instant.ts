const UNITS_MS = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  mo: 2_592_000_000,
  M: 2_592_000_000,
  y: 31_536_000_000,
} as const

/** Milliseconds of an instant as time pickers have it: `now`, `now-7d`, or milliseconds. Months and years are of 30 and 365 days. */
export function instantMs(text: string, nowMs: number): number {
  const [, count, unit] = /^now-(\d+)(\w+)$/.exec(text) ?? []
  if (count !== undefined) return nowMs - Number(count) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? 0)
  return text === 'now' ? nowMs : Number(text)
}
