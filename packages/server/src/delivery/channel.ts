import { CHANNEL_BOUNDS } from '@millrace/contract'
import type { Backoff } from './backoff.ts'

/** What bounds the delivery of a channel. */
export interface ChannelLimits {
  readonly maxBatchMessages: number
  readonly maxBatchBytes: number
  /** Requests under way at once, at most; more than 1 gives up the order between them (DL-3). */
  readonly requestsAtOnce: number
  /** Requests a second at most; null is no limit (DL-3). */
  readonly requestsPerSecond: number | null
  readonly backoff: Backoff
  /** A message dies when it is this old and its lane has failed this often (DL-5). */
  readonly deadLetter: { readonly ageMs: number; readonly attempts: number }
}

/** DL-3, DL-5, DL-7. */
export const DEFAULT_LIMITS: ChannelLimits = {
  maxBatchMessages: 100,
  maxBatchBytes: 256 * 1024,
  requestsAtOnce: 1,
  requestsPerSecond: null,
  backoff: { initialMs: 1000, capMs: 3_600_000 },
  deadLetter: { ageMs: 24 * 3_600_000, attempts: 12 },
}

/** The most confirmations that a channel may ask for (DL-13). */
export const MAX_CONFIRMATIONS: number = CHANNEL_BOUNDS.confirmations.maximum

/**
 * Where a channel stands: `unconfigured` has no address yet (IN-7), `active` delivers, `failing` waits for its next
 * attempt after a failure, `paused` was stopped by its operator, `disabled` by an answer 410.
 */
export type ChannelStatus = 'unconfigured' | 'active' | 'failing' | 'paused' | 'disabled'

/** Whom a channel trusts and how it introduces itself, in PEM; null is what the system trusts, and nobody. */
export interface ChannelTls {
  readonly certificateAuthority: string | null
  readonly clientCertificate: string | null
  readonly clientKey: string | null
}

export const SYSTEM_TLS: ChannelTls = {
  certificateAuthority: null,
  clientCertificate: null,
  clientKey: null,
}

/** Where the requests of a channel go and what they carry. */
export interface Destination {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** `whsec_…`; one signature is sent for each. */
  readonly secrets: readonly string[]
  readonly tls: ChannelTls
}

/** A webhook channel; its lane has the same id. */
export interface Channel {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly url: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ChannelTls
  readonly limits: ChannelLimits
  /** A message waits until its block is that deep (DL-13). */
  readonly confirmations: number
  /** True announces delivered messages that a reorganisation removed (DL-13). */
  readonly isRetracting: boolean
  /** The channel of the same project that is told of this one's failures (DL-12). */
  readonly alertChannel: string | null
  readonly isPaused: boolean
  readonly disabledReason: string | null
  readonly status: ChannelStatus
  readonly failures: number
  readonly failingSinceAt: number | null
  readonly nextAttemptAt: number
  readonly pendingMessages: number
  /** Messages that wait for confirmations, not among the pending ones. */
  readonly heldMessages: number
  readonly oldestPendingAt: number | null
  /** Letters that are kept, those that wait for a redrive too. */
  readonly deadLetters: number
  /** The newest attempts, at most {@link RATED_ATTEMPTS}: how many, and how many were acknowledged. */
  readonly recentAttempts: number
  readonly recentAcknowledged: number
  readonly lastError: string | null
  /** Until when the secret before the present one signs as well; null when it does not. */
  readonly previousSecretUntilAt: number | null
  readonly createdAt: number
}

/** Attempts that the success rate of a channel counts (DL-12). */
export const RATED_ATTEMPTS = 100

/** What of a channel can be set; absent members stay as they are. */
export interface ChannelChange {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly tls?: ChannelTls
  readonly limits?: ChannelLimits
  readonly confirmations?: number
  readonly isRetracting?: boolean
  readonly alertChannel?: string | null
  readonly isPaused?: boolean
}

/** Where channels live. Names are unique within a project. */
export interface ChannelStore {
  list(projectId: number): Promise<readonly Channel[]>
  find(projectId: number, name: string): Promise<Channel | null>
  /** Creates the channel, or gives an address to one that ingest or a deletion left without. False: it has one already. */
  create(
    projectId: number,
    name: string,
    configured: { readonly url: string; readonly secret: string } & ChannelChange,
    nowMs: number,
  ): Promise<boolean>
  /** Changes the channel. `secret` is kept where the channel has none yet. True when it was kept. */
  change(id: number, change: ChannelChange, secret: string, nowMs: number): Promise<boolean>
  /** Replaces the secret; the one before signs as well until `overlapUntilAt` (DL-1). */
  rotateSecret(id: number, secret: string, overlapUntilAt: number): Promise<void>
  /** Where the channel's requests go now; null without an address. */
  destination(id: number, nowMs: number): Promise<Destination | null>
  /** An event id that no message has or gets (EV-1), for a sample. */
  takeEventId(id: number): Promise<number>
  /** Removes the channel with everything that waits in it. Its event ids stay taken. */
  remove(id: number, nowMs: number): Promise<void>
}
