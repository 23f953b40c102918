import { joinBodies } from './batch.ts'

/** What is known of a batch that was given up. */
export interface DeadLetterSummary {
  readonly id: number
  readonly channel: string
  readonly diedAt: number
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastError: string
  /** Messages that no newer revision has superseded. */
  readonly messages: number
  /** When somebody asked to send it again; null while it only lies there (DD-4). */
  readonly redriveAt: number | null
}

/** A batch that was given up, without the messages that a newer revision has superseded. */
export interface DeadLetter extends Omit<DeadLetterSummary, 'messages' | 'redriveAt'> {
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

/** Which letters are meant: these, or all of a channel, or with neither all of the project. */
export interface LetterChoice {
  readonly ids: readonly number[] | null
  readonly channel: string | null
}

/** Where dead letters lie. */
export interface DeadLetterStore {
  /** Letters that are not older than their retention, least recently pulled first, then oldest (DD-2). */
  pull(projectId: number, request: PullRequest): Promise<readonly DeadLetter[]>
  /** The letters of a channel in order of id, without their messages; counts as no pull (DD-4). */
  list(
    projectId: number,
    request: Omit<PullRequest, 'channel'> & { readonly channel: string },
  ): Promise<readonly DeadLetterSummary[]>
  /**
   * Marks letters to be sent again, and answers how many (DD-4). {@link DeadLetterStore.redrive} does it; as the mark is
   * stored, it goes on after a crash.
   */
  requestRedrive(projectId: number, choice: LetterChoice, nowMs: number): Promise<number>
  /**
   * Moves marked letters back to the end of their queues: of each channel about `messagesMax` messages at most, and
   * none while as many wait there. Superseded messages stay out (DL-8). Answers how many messages moved.
   */
  redrive(messagesMax: number, nowMs: number): Promise<number>
  /** Removes letters for good, and answers how many (DD-4). */
  dismiss(projectId: number, choice: LetterChoice): Promise<number>
}

/** The JSON text of the array that the receiver never acknowledged (DD-3). */
export function letterData(letter: DeadLetter): string {
  return Buffer.from(joinBodies(letter.bodies)).toString('utf8')
}
