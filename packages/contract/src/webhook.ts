import { Type } from 'typebox'

const instant = Type.String({ format: 'date-time', maxLength: 40, description: 'RFC 3339, UTC.' })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** How a channel waits after a failure (DL-3). */
const backoff = Type.Object({
  initialMs: Type.Optional(
    Type.Integer({ description: 'Wait after the first failure; doubled with each. Default 1000.' }),
  ),
  capMs: Type.Optional(Type.Integer({ description: 'The longest wait. Default 3600000.' })),
})

/** When a message is given up (DL-5). Both must be reached. */
const deadLetter = Type.Object({
  ageMs: Type.Optional(Type.Integer({ description: 'Age of the message. Default 86400000.' })),
  attempts: Type.Optional(Type.Integer({ description: 'Failed attempts in a row. Default 12.' })),
})

const settings = {
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Sent with every call. Not host, content-*, transfer-encoding or webhook-*.',
    }),
  ),
  maxBatchMessages: Type.Optional(Type.Integer({ description: 'Messages per call, 1 to 500. Default 100.' })),
  maxBatchBytes: Type.Optional(
    Type.Integer({ description: 'Bytes per call; a single larger message goes alone. Default 262144.' }),
  ),
  backoff: Type.Optional(backoff),
  deadLetter: Type.Optional(deadLetter),
  paused: Type.Optional(Type.Boolean({ description: 'True stops delivery; messages wait.' })),
}

/** Body of `POST /webhook/channels/{owner}/{project}`. */
export const ChannelCreation = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 512, description: 'The name that exporters are given.' }),
  url: Type.String({ minLength: 1, maxLength: 2048, description: 'http or https address of the receiver.' }),
  ...settings,
})
export type ChannelCreation = Type.Static<typeof ChannelCreation>

/** Body of `PATCH /webhook/channels/{owner}/{project}/{channel}`: what is absent stays as it is. */
export const ChannelUpdate = Type.Object({
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
  ...settings,
})
export type ChannelUpdate = Type.Static<typeof ChannelUpdate>

/** A channel, as management answers show it. */
export const ChannelView = Type.Object({
  name: Type.String(),
  status: Type.Union(
    [
      Type.Literal('unconfigured'),
      Type.Literal('active'),
      Type.Literal('failing'),
      Type.Literal('paused'),
      Type.Literal('disabled'),
    ],
    {
      description:
        'unconfigured has no url yet and its messages wait (IN-7); failing waits for its next attempt; disabled after an answer 410, until it is changed.',
    },
  ),
  url: orNull(Type.String()),
  headers: Type.Record(Type.String(), Type.String()),
  maxBatchMessages: Type.Integer(),
  maxBatchBytes: Type.Integer(),
  backoff: Type.Required(backoff),
  deadLetter: Type.Required(deadLetter),
  paused: Type.Boolean(),
  disabledReason: orNull(Type.String()),
  failures: Type.Integer({ description: 'Failed attempts in a row.' }),
  failingSince: orNull(instant),
  nextAttemptAt: orNull(instant),
  pendingMessages: Type.Integer(),
  oldestPendingAt: orNull(instant),
  createdAt: instant,
  secret: Type.Optional(
    Type.String({ description: 'Signing secret `whsec_…` (Standard Webhooks). Shown this once.' }),
  ),
})
export type ChannelView = Type.Static<typeof ChannelView>

/** Answer of `GET /webhook/channels/{owner}/{project}`. */
export const ChannelList = Type.Object({ channels: Type.Array(ChannelView) })

/** Query of `GET …/{channel}/attempts`. */
export const AttemptQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100.' })),
  before: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: 'Continues behind the attempt with this id.' }),
  ),
})

/** One call to a receiver (DL-11). */
export const AttemptView = Type.Object({
  id: Type.String({ description: 'A decimal number.' }),
  webhookId: Type.String({ description: 'Stable over retries of the same content.' }),
  startedAt: instant,
  durationMs: Type.Integer(),
  outcome: Type.Union([
    Type.Literal('acknowledged'),
    Type.Literal('refused'),
    Type.Literal('timed_out'),
    Type.Literal('unreachable'),
  ]),
  status: orNull(Type.Integer({ description: 'HTTP status; null when there was none.' })),
  reason: Type.String(),
  messages: Type.Integer(),
  bytes: Type.Integer(),
  firstEventId: Type.Integer(),
  lastEventId: Type.Integer(),
  answer: Type.String({ description: 'The first bytes of the answer, as text.' }),
})

/** Answer of `GET …/{channel}/attempts`, newest first. */
export const AttemptList = Type.Object({ attempts: Type.Array(AttemptView) })

/** Query of the dead-letter pull (interface 4.3, DD-1, DD-2). */
export const DeadLetterQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10, description: 'Batches at most. Default 10.' }),
  ),
  channel: Type.Optional(Type.String({ maxLength: 512, description: 'Letters of this channel only.' })),
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      description:
        'Continues behind the letter with this id, in order of id, instead of the least recently pulled.',
    }),
  ),
})

/** Answer of the dead-letter pull (interface 2.7). */
export const DeadLetterAnswer = Type.Object({
  messages: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Identifier of the batch, a decimal number.' }),
      attributes: Type.Record(Type.String(), Type.String(), {
        description: 'channel_name, and attempts, last_status, last_error, died_at as text.',
      }),
      data: Type.String({ description: 'JSON text of the array of webhook messages.' }),
    }),
  ),
})
export type DeadLetterAnswer = Type.Static<typeof DeadLetterAnswer>
