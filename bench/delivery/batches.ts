import type { Outgoing } from './contender.ts'

/** A job that carries several messages of one channel. */
export interface BatchJob {
  readonly channel: number
  readonly messages: readonly string[]
}

/** Messages of an array that goes to one receiver in one request. */
export const BATCH_MESSAGES = 100

/** What comes together goes into jobs of up to a hundred messages of one channel, as an expert would do. */
export function batchesOf(messages: readonly Outgoing[]): readonly BatchJob[] {
  return [...Map.groupBy(messages, ({ channel }) => channel)].flatMap(([channel, list]) =>
    Array.from({ length: Math.ceil(list.length / BATCH_MESSAGES) }, (_, index) => ({
      channel,
      messages: list.slice(index * BATCH_MESSAGES, (index + 1) * BATCH_MESSAGES).map(({ data }) => data),
    })),
  )
}
