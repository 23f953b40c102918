import type { Outcome } from './outcome.ts'

/** The record of one request to a receiver (DL-11). */
export interface Attempt {
  readonly webhookId: string
  readonly startedAt: number
  readonly durationMs: number
  readonly outcome: Outcome['kind']
  readonly status: number | null
  readonly reason: string
  readonly messages: number
  readonly bytes: number
  readonly firstEventId: number
  readonly lastEventId: number
  /** The first bytes of the answer. */
  readonly answer: Uint8Array
}

/** Lists the attempts of a channel, newest first. */
export interface AttemptStore {
  list(
    laneId: number,
    page: { readonly limit: number; readonly beforeId: number | null },
  ): Promise<readonly (Attempt & { readonly id: number })[]>
}
