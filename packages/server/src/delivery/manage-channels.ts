import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import { CHANNEL_NAME_RULE, isChannelName } from './channel-name.ts'
import { checkHeaders, checkLimits, checkUrl, type DestinationGuard } from './check-channel.ts'
import { checkTls } from './check-tls.ts'
import {
  DEFAULT_LIMITS,
  MAX_CONFIRMATIONS,
  SYSTEM_TLS,
  type Channel,
  type ChannelChange,
  type ChannelLimits,
  type ChannelStore,
  type ChannelTls,
} from './channel.ts'

/** Limits of which any may be left out. */
export interface PartialLimits {
  readonly maxBatchMessages?: number
  readonly maxBatchBytes?: number
  readonly requestsAtOnce?: number
  /** 0 is no limit. */
  readonly requestsPerSecond?: number
  readonly backoff?: Partial<ChannelLimits['backoff']>
  readonly deadLetter?: Partial<ChannelLimits['deadLetter']>
}

/** What an operator asks for. */
export interface ChannelWish extends PartialLimits {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Empty text takes a part away. */
  readonly tls?: { readonly [Part in keyof ChannelTls]?: string }
  readonly confirmations?: number
  readonly retract?: boolean
  /** Empty is none. */
  readonly alertChannel?: string
  readonly paused?: boolean
}

/** A channel, and its signing secret the one time it is shown. */
export interface ChannelAnswer {
  readonly channel: Channel
  readonly secret: string | null
  /** What of the wish was probably not meant so. */
  readonly warnings: readonly string[]
}

export interface ChannelsDependencies {
  readonly store: ChannelStore
  readonly guard: DestinationGuard
  readonly clock: Clock
  createSecret(): string
  /** Told when messages may have become deliverable. */
  wake(): void
}

/** The operator's side of channels. Every refusal names the field. */
export interface Channels {
  list(projectId: number): Promise<readonly Channel[]>
  get(projectId: number, name: string): Promise<Channel>
  create(
    projectId: number,
    name: string,
    wish: ChannelWish & { readonly url: string },
  ): Promise<ChannelAnswer>
  update(projectId: number, name: string, wish: ChannelWish): Promise<ChannelAnswer>
  /** Gives the channel a new secret; the one before signs as well for `overlapSeconds` (DL-1). */
  rotateSecret(projectId: number, name: string, overlapSeconds: number): Promise<ChannelAnswer>
  remove(projectId: number, name: string): Promise<void>
}

const NEW_CHANNEL = { url: null, limits: DEFAULT_LIMITS, tls: SYSTEM_TLS }

/** Creates the manager. */
export function createChannels(dependencies: ChannelsDependencies): Channels {
  const { store, guard, clock, createSecret, wake } = dependencies

  async function get(projectId: number, name: string): Promise<Channel> {
    const channel = await store.find(projectId, name)
    if (channel === null) throw new ServiceError('not_found', `channel "${name}" does not exist`)
    return withoutEndedSecret(channel)
  }

  function withoutEndedSecret(channel: Channel): Channel {
    const until = channel.previousSecretUntilAt
    return until === null || until > clock.now() ? channel : { ...channel, previousSecretUntilAt: null }
  }

  /** An alert channel may come later (IN-7), or be mistyped. */
  async function alertWarnings(projectId: number, { alertChannel }: ChannelWish): Promise<readonly string[]> {
    if (alertChannel === undefined || alertChannel === '') return []
    const found = await store.find(projectId, alertChannel)
    if (found !== null && found.url !== null) return []
    const state = found === null ? 'does not exist' : 'has no address'
    return [`alertChannel: channel "${alertChannel}" ${state} yet; alerts wait until it has an address`]
  }

  async function answer(
    projectId: number,
    name: string,
    wish: ChannelWish,
    secret: string | null,
  ): Promise<ChannelAnswer> {
    const channel = await get(projectId, name)
    const warnings = [...rateWarnings(wish, channel.limits), ...(await alertWarnings(projectId, wish))]
    return { channel, secret, warnings }
  }

  return {
    list: async (projectId) => (await store.list(projectId)).map(withoutEndedSecret),
    get,

    async create(projectId, name, wish) {
      checkName('name', name)
      const change = await changeOf(name, wish, NEW_CHANNEL, guard)
      const secret = createSecret()
      const url = change.url ?? wish.url
      if (!(await store.create(projectId, name, { ...change, url, secret }, clock.now()))) {
        throw new ServiceError('already_exists', `channel "${name}" exists already; change it with PATCH`)
      }
      wake()
      return answer(projectId, name, wish, secret)
    },

    async update(projectId, name, wish) {
      const before = await get(projectId, name)
      const change = await changeOf(name, wish, before, guard)
      const secret = createSecret()
      const isSecretKept = await store.change(before.id, change, secret, clock.now())
      wake()
      return answer(projectId, name, wish, isSecretKept ? secret : null)
    },

    async rotateSecret(projectId, name, overlapSeconds) {
      const before = await get(projectId, name)
      if (before.url === null) {
        throw new ServiceError('failed_precondition', `channel "${name}" has no secret before it has a url`)
      }
      const secret = createSecret()
      const nowMs = clock.now()
      await store.rotateSecret(before.id, secret, nowMs + overlapSeconds * 1000)
      const until = before.previousSecretUntilAt
      const warnings =
        until === null
          ? []
          : [
              `the secret before the last one was to sign until ${new Date(until).toISOString()}, and ended now: at most two sign`,
            ]
      return { channel: await get(projectId, name), secret, warnings }
    },

    async remove(projectId, name) {
      await store.remove((await get(projectId, name)).id, clock.now())
    },
  }
}

/** A channel that has a rate has one request at a time (DL-3). */
function rateWarnings(wish: ChannelWish, limits: ChannelLimits): readonly string[] {
  if (wish.requestsAtOnce === undefined && wish.requestsPerSecond === undefined) return []
  if (limits.requestsAtOnce === 1 || limits.requestsPerSecond === null) return []
  return ['requestsAtOnce: a channel with requestsPerSecond has one request at a time']
}

async function changeOf(
  name: string,
  { url, headers, tls, paused, confirmations, retract, alertChannel, ...partial }: ChannelWish,
  before: Pick<Channel, 'url' | 'limits' | 'tls'>,
  guard: DestinationGuard,
): Promise<ChannelChange> {
  if (confirmations !== undefined) checkConfirmations(confirmations)
  if (alertChannel !== undefined && alertChannel !== '') checkAlertChannel(name, alertChannel)
  const { limits } = before
  const checkedUrl = url === undefined ? undefined : await checkUrl(url, guard)
  return {
    // Whoever sends all settings to change one does not mean to start delivery afresh.
    ...(checkedUrl === undefined || checkedUrl === before.url ? {} : { url: checkedUrl }),
    ...(headers === undefined ? {} : { headers: checkHeaders(headers) }),
    ...(tls === undefined ? {} : { tls: checkTls(withTls(before.tls, tls)) }),
    ...(confirmations === undefined ? {} : { confirmations }),
    ...(retract === undefined ? {} : { isRetracting: retract }),
    ...(alertChannel === undefined ? {} : { alertChannel: alertChannel || null }),
    ...(paused === undefined ? {} : { isPaused: paused }),
    limits: checkLimits({
      maxBatchMessages: partial.maxBatchMessages ?? limits.maxBatchMessages,
      maxBatchBytes: partial.maxBatchBytes ?? limits.maxBatchBytes,
      requestsAtOnce: partial.requestsAtOnce ?? limits.requestsAtOnce,
      requestsPerSecond: (partial.requestsPerSecond ?? limits.requestsPerSecond) || null,
      backoff: { ...limits.backoff, ...partial.backoff },
      deadLetter: { ...limits.deadLetter, ...partial.deadLetter },
    }),
  }
}

function withTls(before: ChannelTls, wish: NonNullable<ChannelWish['tls']>): ChannelTls {
  const part = (name: keyof ChannelTls) => (wish[name] ?? before[name]) || null
  return {
    certificateAuthority: part('certificateAuthority'),
    clientCertificate: part('clientCertificate'),
    clientKey: part('clientKey'),
  }
}

function checkConfirmations(confirmations: number): void {
  if (Number.isInteger(confirmations) && confirmations >= 0 && confirmations <= MAX_CONFIRMATIONS) return
  throw invalidArgument(`confirmations: must be an integer from 0 to ${MAX_CONFIRMATIONS}`)
}

function checkAlertChannel(name: string, alertChannel: string): void {
  checkName('alertChannel', alertChannel)
  if (alertChannel === name) {
    throw invalidArgument('alertChannel: must be another channel; this one could not tell of its own failure')
  }
}

function checkName(field: string, name: string): void {
  if (!isChannelName(name)) throw invalidArgument(`${field}: ${CHANNEL_NAME_RULE}`)
}
