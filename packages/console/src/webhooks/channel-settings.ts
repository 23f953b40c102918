import type { ChannelUpdate, ChannelView } from '@millrace/contract'

/** The numbers of a channel, as the form has them: text, with times in words. */
export const SETTING_FIELDS = [
  { id: 'maxBatchMessages', label: 'Messages per call', hint: '1 to 500', kind: 'count' },
  { id: 'maxBatchBytes', label: 'Bytes per call', hint: 'a larger message goes alone', kind: 'count' },
  { id: 'requestsAtOnce', label: 'Calls at once', hint: '1 keeps the order; up to 16', kind: 'count' },
  { id: 'requestsPerSecond', label: 'Calls a second', hint: '0: no limit', kind: 'count' },
  { id: 'backoffInitial', label: 'First wait', hint: 'doubled with each failure, e.g. 1s', kind: 'time' },
  { id: 'backoffCap', label: 'Longest wait', hint: 'e.g. 1h', kind: 'time' },
  { id: 'deadLetterAge', label: 'Give up after', hint: 'age of the message, e.g. 1d', kind: 'time' },
  { id: 'deadLetterAttempts', label: 'and failed attempts', hint: 'both must be reached', kind: 'count' },
  {
    id: 'confirmations',
    label: 'Confirmations',
    hint: 'a message waits until its block is that deep',
    kind: 'count',
  },
] as const

export type SettingName = (typeof SETTING_FIELDS)[number]['id']
export type Settings = Readonly<Record<SettingName, string>>

/** The settings of a channel as text; those of a new one when there is none. */
export function settingsOf(channel: ChannelView | undefined): Settings {
  return {
    maxBatchMessages: String(channel?.maxBatchMessages ?? 100),
    maxBatchBytes: String(channel?.maxBatchBytes ?? 262_144),
    requestsAtOnce: String(channel?.requestsAtOnce ?? 1),
    requestsPerSecond: String(channel?.requestsPerSecond ?? 0),
    backoffInitial: timeText(channel?.backoff.initialMs ?? 1000),
    backoffCap: timeText(channel?.backoff.capMs ?? 3_600_000),
    deadLetterAge: timeText(channel?.deadLetter.ageMs ?? 86_400_000),
    deadLetterAttempts: String(channel?.deadLetter.attempts ?? 12),
    confirmations: String(channel?.confirmations ?? 0),
  }
}

/** Why a setting cannot be read; undefined when it can. Limits are the service's to say. */
export function settingFault(name: SettingName, text: string): string | undefined {
  const kind = SETTING_FIELDS.find(({ id }) => id === name)?.kind
  if (kind === 'count') return /^\d+$/.test(text.trim()) ? undefined : 'A whole number'
  return timeMs(text) === null ? 'A number and ms, s, m, h or d: 30s' : undefined
}

/** The settings in the form of the API. */
export function settingsToWire(settings: Settings): ChannelUpdate {
  return {
    maxBatchMessages: Number(settings.maxBatchMessages),
    maxBatchBytes: Number(settings.maxBatchBytes),
    requestsAtOnce: Number(settings.requestsAtOnce),
    requestsPerSecond: Number(settings.requestsPerSecond),
    backoff: { initialMs: timeMs(settings.backoffInitial) ?? 0, capMs: timeMs(settings.backoffCap) ?? 0 },
    deadLetter: { ageMs: timeMs(settings.deadLetterAge) ?? 0, attempts: Number(settings.deadLetterAttempts) },
    confirmations: Number(settings.confirmations),
  }
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** Milliseconds in the largest unit that divides them: 90m. */
export function timeText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

/** Milliseconds of a text such as 30s; null when it cannot be read. */
export function timeMs(text: string): number | null {
  const [, value, unit] = /^(\d+) ?(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const size = UNITS.find(([name]) => name === unit)?.[1]
  return size === undefined ? null : Number(value) * size
}
