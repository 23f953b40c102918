/** What an operator is told of a channel (DL-12), from nothing to the worst. */
export const ALERT_LEVELS = [
  'none',
  'failing_5_minutes',
  'failing_1_hour',
  'failing_24_hours',
  'disabled',
] as const
export type AlertLevel = (typeof ALERT_LEVELS)[number]

/** What is remembered instead of a level when delivery starts afresh: whatever comes next is told, and so is the end. */
export const TOLD_BEFORE = -1

/** From how long a failure each of the first levels is told. */
const FAILING_MS: readonly number[] = [5 * 60_000, 3_600_000, 24 * 3_600_000]

/** The level that a channel's state deserves. */
export function alertLevelOf(
  { failingSinceAt, isDisabled }: { readonly failingSinceAt: number | null; readonly isDisabled: boolean },
  nowMs: number,
): AlertLevel {
  if (isDisabled) return 'disabled'
  if (failingSinceAt === null) return 'none'
  const reached = FAILING_MS.filter((ms) => nowMs - failingSinceAt >= ms).length
  return ALERT_LEVELS[reached] ?? 'none'
}

/** Something to tell: a failure that became worse, or its end (`level` is `none`). */
export interface Alert {
  readonly projectId: number
  readonly channel: string
  readonly level: AlertLevel
  readonly failingSinceAt: number | null
  readonly failures: number
  readonly disabledReason: string | null
  readonly lastError: string | null
}

/** The export name of the messages that an alert channel gets. */
export const ALERT_EXPORT_NAME = 'millrace_channel_alert'

/** What an alert channel is sent: JSON. */
export function alertData(alert: Alert): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      channel: alert.channel,
      level: alert.level === 'none' ? 'recovered' : alert.level,
      failing_since: alert.failingSinceAt === null ? null : new Date(alert.failingSinceAt).toISOString(),
      failures: alert.failures,
      disabled_reason: alert.disabledReason,
      last_error: alert.lastError,
    }),
  )
}

/** Where it is remembered what was told. */
export interface AlertStore {
  /**
   * Takes what is to be told now, each once over all instances, and enqueues it to the alert channels in the same
   * transaction, so that what was taken is told.
   */
  take(nowMs: number): Promise<readonly Alert[]>
}
