import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import { checkHeaders, checkLimits, checkUrl, type DestinationGuard } from './check-channel.ts'
import {
  DEFAULT_LIMITS,
  type Channel,
  type ChannelChange,
  type ChannelLimits,
  type ChannelStore,
} from './channel.ts'

/** Limits of which any may be left out. */
export interface PartialLimits {
  readonly maxBatchMessages?: number
  readonly maxBatchBytes?: number
  readonly backoff?: Partial<ChannelLimits['backoff']>
  readonly deadLetter?: Partial<ChannelLimits['deadLetter']>
}

/** What an operator asks for. */
export interface ChannelWish extends PartialLimits {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly paused?: boolean
}

/** A channel, and its signing secret the one time it is shown. */
export interface ChannelAnswer {
  readonly channel: Channel
  readonly secret: string | null
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
  remove(projectId: number, name: string): Promise<void>
}

/** Creates the manager. */
export function createChannels(dependencies: ChannelsDependencies): Channels {
  const { store, guard, clock, createSecret, wake } = dependencies

  async function get(projectId: number, name: string): Promise<Channel> {
    const channel = await store.find(projectId, name)
    if (channel === null) throw new ServiceError('not_found', `channel "${name}" does not exist`)
    return channel
  }

  return {
    list: (projectId) => store.list(projectId),
    get,

    async create(projectId, name, wish) {
      checkName(name)
      const change = await changeOf(wish, DEFAULT_LIMITS, guard)
      const secret = createSecret()
      const url = change.url ?? wish.url
      if (!(await store.create(projectId, name, { ...change, url, secret }, clock.now()))) {
        throw new ServiceError('already_exists', `channel "${name}" exists already; change it with PATCH`)
      }
      wake()
      return { channel: await get(projectId, name), secret }
    },

    async update(projectId, name, wish) {
      const before = await get(projectId, name)
      const change = await changeOf(wish, before.limits, guard)
      const secret = createSecret()
      const isSecretKept = await store.change(before.id, change, secret, clock.now())
      wake()
      return { channel: await get(projectId, name), secret: isSecretKept ? secret : null }
    },

    async remove(projectId, name) {
      await store.remove((await get(projectId, name)).id, clock.now())
    },
  }
}

async function changeOf(
  { url, headers, paused, ...partial }: ChannelWish,
  before: ChannelLimits,
  guard: DestinationGuard,
): Promise<ChannelChange> {
  return {
    ...(url === undefined ? {} : { url: await checkUrl(url, guard) }),
    ...(headers === undefined ? {} : { headers: checkHeaders(headers) }),
    ...(paused === undefined ? {} : { isPaused: paused }),
    limits: checkLimits({
      maxBatchMessages: partial.maxBatchMessages ?? before.maxBatchMessages,
      maxBatchBytes: partial.maxBatchBytes ?? before.maxBatchBytes,
      backoff: { ...before.backoff, ...partial.backoff },
      deadLetter: { ...before.deadLetter, ...partial.deadLetter },
    }),
  }
}

function checkName(name: string): void {
  if (/^[^\p{Cc}/]{1,512}$/u.test(name)) return
  throw invalidArgument('name: must have 1 to 512 characters, without slashes and control characters')
}
