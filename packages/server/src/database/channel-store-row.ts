import type { Selectable } from 'kysely'
import type { ChannelLimits } from '../delivery/channel.ts'
import type { DeliveryTables } from './schema/delivery.ts'

export type LaneRow = Selectable<DeliveryTables['webhook_lane']>

/** A channel's limits as columns. */
export function channelColumns(limits: ChannelLimits) {
  return {
    max_batch_messages: limits.maxBatchMessages,
    max_batch_bytes: limits.maxBatchBytes,
    backoff_initial_ms: limits.backoff.initialMs,
    backoff_cap_ms: limits.backoff.capMs,
    dead_letter_age_ms: limits.deadLetter.ageMs,
    dead_letter_attempts: limits.deadLetter.attempts,
  }
}

/** A channel's limits from their columns. */
export function limitsFromRow(row: ReturnType<typeof channelColumns>): ChannelLimits {
  return {
    maxBatchMessages: row.max_batch_messages,
    maxBatchBytes: row.max_batch_bytes,
    backoff: { initialMs: row.backoff_initial_ms, capMs: row.backoff_cap_ms },
    deadLetter: { ageMs: row.dead_letter_age_ms, attempts: row.dead_letter_attempts },
  }
}

/** A channel's headers from their column. */
export function headersFromRow(row: Pick<LaneRow, 'headers'>): Readonly<Record<string, string>> {
  return JSON.parse(row.headers) as Record<string, string>
}
