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

/** Which attempts are asked for; null is all of them. */
export interface AttemptFilter {
  readonly outcome: Outcome['kind'] | null
  /** Only attempts that were not acknowledged. */
  readonly isFailure: boolean
  readonly status: number | null
  /** Epoch milliseconds: started then or later, and before. */
  readonly fromAt: number | null
  readonly untilAt: number | null
}

export const ALL_ATTEMPTS: AttemptFilter = {
  outcome: null,
  isFailure: false,
  status: null,
  fromAt: null,
  untilAt: null,
}

/** Where attempts are recorded (DL-11). A settlement records its own. */
export interface AttemptStore {
  /** The attempts of a channel, newest first. */
  list(
    laneId: number,
    page: { readonly limit: number; readonly beforeId: number | null } & AttemptFilter,
  ): Promise<readonly (Attempt & { readonly id: number })[]>
  record(laneId: number, attempt: Attempt): Promise<void>
}
