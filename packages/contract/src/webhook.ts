import { Type } from 'typebox'

const instant = Type.String({ format: 'date-time', maxLength: 40, description: 'RFC 3339, UTC.' })
/** An attempt's or dead letter's id. */
const id = (description?: string) =>
  Type.String({
    pattern: '^[0-9]{1,15}$',
    'x-rule': 'an id: a decimal number of at most 15 digits, as text',
    ...(description === undefined ? {} : { description }),
  })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const DAY_MS = 24 * 3_600_000

/** From what to what the numbers of a channel go. */
export const CHANNEL_BOUNDS = {
  maxBatchMessages: { minimum: 1, maximum: 500 },
  maxBatchBytes: { minimum: 1024, maximum: 8 * 1024 * 1024 },
  requestsAtOnce: { minimum: 1, maximum: 16 },
  /** 0 is no limit. */
  requestsPerSecond: { minimum: 0, maximum: 1000 },
  'backoff.initialMs': { minimum: 10, maximum: 3_600_000 },
  'backoff.capMs': { minimum: 10, maximum: DAY_MS },
  'deadLetter.ageMs': { minimum: 0, maximum: 30 * DAY_MS },
  'deadLetter.attempts': { minimum: 1, maximum: 1000 },
  confirmations: { minimum: 0, maximum: 100_000 },
} as const

const bounded = (setting: keyof typeof CHANNEL_BOUNDS, description: string) =>
  Type.Integer({ ...CHANNEL_BOUNDS[setting], description })

/** How a channel waits after a failure (DL-3). */
const backoff = Type.Object({
  initialMs: Type.Optional(
    bounded(
      'backoff.initialMs',
      'Wait after the first failure; doubled with each. At most capMs. Default 1000.',
    ),
  ),
  capMs: Type.Optional(bounded('backoff.capMs', 'The longest wait. Default 3600000.')),
})

/** When a message is given up (DL-5). Both must be reached. */
const deadLetter = Type.Object({
  ageMs: Type.Optional(bounded('deadLetter.ageMs', 'Age of the message. Default 86400000.')),
  attempts: Type.Optional(bounded('deadLetter.attempts', 'Failed attempts in a row. Default 12.')),
})

const pem = (description: string) => Type.String({ maxLength: 65_536, description })

/** Whom a channel trusts and how it introduces itself (DL-10). */
const tls = Type.Object({
  certificateAuthority: Type.Optional(
    pem('Certificates in PEM that are trusted besides the public ones. Empty: only the public ones.'),
  ),
  clientCertificate: Type.Optional(pem('Shown to receivers that ask for a certificate; PEM. Empty: none.')),
  clientKey: Type.Optional(pem('The private key of clientCertificate, in PEM without a passphrase.')),
})

const settings = {
  tls: Type.Optional(tls),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Sent with every call. Not host, content-*, transfer-encoding or webhook-*.',
    }),
  ),
  maxBatchMessages: Type.Optional(bounded('maxBatchMessages', 'Messages per call. Default 100.')),
  maxBatchBytes: Type.Optional(
    bounded('maxBatchBytes', 'Bytes per call; a single larger message goes alone. Default 262144.'),
  ),
  requestsAtOnce: Type.Optional(
    bounded(
      'requestsAtOnce',
      'Calls under way at once. Default 1: in order. More give up the order between calls, but no message goes beside another revision of its event; one at a time while the channel fails, recovers or has a rate (DL-3).',
    ),
  ),
  requestsPerSecond: Type.Optional(
    bounded('requestsPerSecond', 'Calls a second at most. 0, the default: no limit.'),
  ),
  backoff: Type.Optional(backoff),
  deadLetter: Type.Optional(deadLetter),
  confirmations: Type.Optional(
    bounded(
      'confirmations',
      'A message waits until its block is that deep (DL-13). Default 0: it is sent at once.',
    ),
  ),
  retract: Type.Optional(
    Type.Boolean({
      description:
        'True announces a delivered message that a reorganisation removed, by its event_id with "retracted": true (DL-13). Default false.',
    }),
  ),
  alertChannel: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'Another channel of the project, which gets a message when this one fails for long (DL-12). Empty: none.',
    }),
  ),
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
  tls: Type.Object({
    certificateAuthority: orNull(Type.String()),
    clientCertificate: orNull(Type.String()),
    hasClientKey: Type.Boolean({ description: 'The key itself is never shown.' }),
  }),
  maxBatchMessages: Type.Integer(),
  maxBatchBytes: Type.Integer(),
  requestsAtOnce: Type.Integer({ description: '1: in order.' }),
  requestsPerSecond: Type.Integer({ description: '0: no limit.' }),
  backoff: Type.Required(backoff),
  deadLetter: Type.Required(deadLetter),
  confirmations: Type.Integer(),
  retract: Type.Boolean(),
  alertChannel: orNull(Type.String()),
  paused: Type.Boolean(),
  disabledReason: orNull(Type.String()),
  failures: Type.Integer({ description: 'Failed attempts in a row.' }),
  failingSince: orNull(instant),
  nextAttemptAt: orNull(
    Type.String({
      ...instant,
      description: 'When a failing channel is tried again; null while nothing waits for a time.',
    }),
  ),
  lastError: orNull(Type.String({ description: 'Why the newest attempt failed; null when it did not.' })),
  pendingMessages: Type.Integer(),
  heldMessages: Type.Integer({ description: 'Messages that wait for confirmations (DL-13).' }),
  oldestPendingAt: orNull(instant),
  deadLetters: Type.Integer({ description: 'Dead letters that are kept.' }),
  successRate: orNull(
    Type.Number({ description: 'Acknowledged part of the newest attempts, at most 100; null without any.' }),
  ),
  previousSecretUntil: orNull(
    Type.String({ description: 'Until when the secret before the present one signs as well.' }),
  ),
  createdAt: instant,
  secret: Type.Optional(
    Type.String({ description: 'Signing secret `whsec_…` (Standard Webhooks). Shown this once.' }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String({ description: 'What of the request was probably not meant so.' })),
  ),
})
export type ChannelView = Type.Static<typeof ChannelView>

/** Answer of `GET /webhook/channels/{owner}/{project}`. */
export const ChannelList = Type.Object({ channels: Type.Array(ChannelView) })

/** Query of `GET …/{channel}/attempts`. */
export const AttemptQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100.' })),
  before: Type.Optional(id('Continues behind the attempt with this id.')),
  outcome: Type.Optional(
    Type.Union(
      [
        Type.Literal('acknowledged'),
        Type.Literal('refused'),
        Type.Literal('timed_out'),
        Type.Literal('unreachable'),
        Type.Literal('failed'),
      ],
      { description: 'Attempts that ended so; failed is all but acknowledged.' },
    ),
  ),
  status: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 599, description: 'Attempts with this answer.' }),
  ),
  from: Type.Optional(Type.String({ ...instant, description: 'Attempts that started then or later.' })),
  until: Type.Optional(Type.String({ ...instant, description: 'Attempts that started before.' })),
})

/** What came of one call to a receiver (DL-11). */
export const AttemptResult = Type.Object({
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
export type AttemptResult = Type.Static<typeof AttemptResult>

/** Answer of `POST …/{channel}/test`: what came of the sample, and what was sent. */
export const ChannelTest = Type.Object({
  ...AttemptResult.properties,
  request: Type.Object({
    method: Type.String(),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'As they were sent, the signature included.',
    }),
    body: Type.String(),
  }),
})
export type ChannelTest = Type.Static<typeof ChannelTest>

/** One recorded call to a receiver (DL-11). */
export const AttemptView = Type.Object({
  id: Type.String({ description: 'A decimal number.' }),
  ...AttemptResult.properties,
})
export type AttemptView = Type.Static<typeof AttemptView>

/** Answer of `GET …/{channel}/attempts`, newest first. */
export const AttemptList = Type.Object({ attempts: Type.Array(AttemptView) })

/** Body of `POST …/{channel}/secret`. */
export const SecretRotation = Type.Object({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      description: 'How long the secret before signs as well. Default 86400; 0 ends it at once.',
    }),
  ),
})

/** Query of `GET …/{channel}/deadletters`. */
export const DeadLetterListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100.' })),
  after: Type.Optional(id('Continues behind the letter with this id.')),
})

/** Answer of `GET …/{channel}/deadletters`, in order of id; looking at letters is no pull. */
export const DeadLetterList = Type.Object({
  deadLetters: Type.Array(
    Type.Object({
      id: Type.String({ description: 'A decimal number.' }),
      diedAt: instant,
      attempts: Type.Integer(),
      lastStatus: orNull(Type.Integer()),
      lastError: Type.String(),
      messages: Type.Integer({ description: 'Without those that a newer revision has superseded.' }),
      redriveRequestedAt: orNull(instant),
    }),
  ),
})
export type DeadLetterList = Type.Static<typeof DeadLetterList>

/** Body of the redrive and the dismissal of dead letters (DD-4): one of the three. */
export const DeadLetterChoice = Type.Object({
  ids: Type.Optional(
    Type.Array(id(), {
      minItems: 1,
      maxItems: 1000,
      description: 'These letters.',
    }),
  ),
  channel: Type.Optional(Type.String({ maxLength: 512, description: 'All letters of this channel.' })),
  all: Type.Optional(Type.Boolean({ description: 'True: all letters of the project.' })),
})
export type DeadLetterChoice = Type.Static<typeof DeadLetterChoice>

/** Answer of the redrive and the dismissal. */
export const DeadLetterCount = Type.Object({
  letters: Type.Integer({ description: 'Letters that were found and are dismissed, or will be sent again.' }),
})
export type DeadLetterCount = Type.Static<typeof DeadLetterCount>

/** Query of the dead-letter pull (interface 4.3, DD-1, DD-2). */
export const DeadLetterQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10, description: 'Batches at most. Default 10.' }),
  ),
  channel: Type.Optional(Type.String({ maxLength: 512, description: 'Letters of this channel only.' })),
  after: Type.Optional(
    id('Continues behind the letter with this id, in order of id, instead of the least recently pulled.'),
  ),
})

/** Answer of the dead-letter pull (interface 2.7). */
export const DeadLetterAnswer = Type.Object({
  messages: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Identifier of the batch, a decimal number.' }),
      attributes: Type.Object(
        {
          channel_name: Type.String(),
          attempts: Type.String(),
          last_status: Type.String(),
          last_error: Type.String(),
          died_at: Type.String(),
        },
        { description: 'Numbers and times as text.' },
      ),
      data: Type.String({ description: 'JSON text of the array of webhook messages.' }),
    }),
  ),
})
export type DeadLetterAnswer = Type.Static<typeof DeadLetterAnswer>
