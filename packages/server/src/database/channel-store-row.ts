import type { Selectable } from 'kysely'
import type { ChannelLimits, ChannelTls, Destination } from '../delivery/channel.ts'
import type { DeliveryTables } from './schema/delivery.ts'

export type ChannelRow = Selectable<DeliveryTables['webhook_lane']>

/** A channel with the state of its lane. */
export type LaneRow = ChannelRow & Selectable<DeliveryTables['webhook_lane_state']>

/** A channel's limits as columns. */
export function channelColumns(limits: ChannelLimits) {
  return {
    max_batch_messages: limits.maxBatchMessages,
    max_batch_bytes: limits.maxBatchBytes,
    requests_at_once: limits.requestsAtOnce,
    requests_per_second: limits.requestsPerSecond,
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
    requestsAtOnce: row.requests_at_once,
    requestsPerSecond: row.requests_per_second,
    backoff: { initialMs: row.backoff_initial_ms, capMs: row.backoff_cap_ms },
    deadLetter: { ageMs: row.dead_letter_age_ms, attempts: row.dead_letter_attempts },
  }
}

/** A channel's headers from their column. */
export function headersFromRow(row: Pick<ChannelRow, 'headers'>): Readonly<Record<string, string>> {
  return JSON.parse(row.headers) as Record<string, string>
}

/** What a channel's TLS is as columns. */
export function tlsColumns(tls: ChannelTls) {
  return {
    certificate_authority: tls.certificateAuthority,
    client_certificate: tls.clientCertificate,
    client_key: tls.clientKey,
  }
}

/** What a channel's TLS is from its columns. */
export function tlsFromRow(row: ReturnType<typeof tlsColumns>): ChannelTls {
  return {
    certificateAuthority: row.certificate_authority,
    clientCertificate: row.client_certificate,
    clientKey: row.client_key,
  }
}

/** Where the requests of a lane go; `nowMs` decides whether the previous secret still signs. */
export function destinationFromRow(row: ChannelRow, nowMs: number): Destination {
  return {
    url: row.url ?? '',
    headers: headersFromRow(row),
    secrets: [row.secret, (row.previous_secret_until_at ?? 0) > nowMs ? row.previous_secret : null].filter(
      (secret) => secret !== null,
    ),
    tls: tlsFromRow(row),
  }
}
