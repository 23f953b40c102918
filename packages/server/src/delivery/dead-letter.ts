import { joinBodies } from './batch.ts'

/** A batch that was given up, without the messages that a newer revision has superseded. */
export interface DeadLetter {
  readonly id: number
  readonly channel: string
  readonly diedAt: number
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastError: string
  /** Serialised messages in order of arrival. */
  readonly bodies: readonly Uint8Array[]
}

/** How long a dead letter can be pulled (interface 8). */
export const DEAD_LETTER_RETENTION_MS = 7 * 24 * 3_600_000

export interface PullRequest {
  readonly limit: number
  /** Limits the pull to one channel. */
  readonly channel: string | null
  /** Continues behind this id, in order of id, instead of the least recently pulled. */
  readonly afterId: number | null
  readonly nowMs: number
}

/** Where dead letters lie. */
export interface DeadLetterStore {
  /** Letters that are not older than their retention, least recently pulled first, then oldest (DD-2). */
  pull(projectId: number, request: PullRequest): Promise<readonly DeadLetter[]>
}

/** The JSON text of the array that the receiver never acknowledged (DD-3). */
export function letterData(letter: DeadLetter): string {
  return Buffer.from(joinBodies(letter.bodies)).toString('utf8')
}
