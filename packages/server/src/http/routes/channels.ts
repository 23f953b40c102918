import { ChannelCreation, ChannelList, ChannelView } from '@millrace/contract'
import type { Channel } from '../../delivery/channel.ts'
import type { ChannelAnswer, Channels } from '../../delivery/manage-channels.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'

/** `GET` and `POST /webhook/channels/{owner}/{project}`. */
export function channelsRoutes(channels: Channels): readonly AnyRoute[] {
  const path = '/webhook/channels/:owner/:project'
  return [
    defineRoute({
      method: 'GET',
      path,
      permission: 'admin',
      summary: 'The webhook channels of a project.',
      tag: 'webhook',
      answer: ChannelList,
      handle: async ({ project }) => ({ channels: (await channels.list(project.id)).map(channelToWire) }),
    }),
    defineRoute({
      method: 'POST',
      path,
      permission: 'admin',
      summary: 'Creates a webhook channel.',
      description:
        'Also gives an address to a channel that exports have created without one (IN-7). The answer holds the signing secret; it is not shown again.',
      tag: 'webhook',
      body: ChannelCreation,
      answer: ChannelView,
      status: 201,
      handle: async ({ project, body }) => {
        const { name, ...wish } = body
        return answerToWire(await channels.create(project.id, name, wish), hintsOf(body))
      },
    }),
  ]
}

/** A channel on the wire, with its secret if this is the one time to show it, and what the request that made it so probably did not mean. */
export function answerToWire(
  { channel, secret, warnings }: ChannelAnswer,
  hints: readonly string[] = [],
): ChannelView {
  const told = [...hints, ...warnings]
  return {
    ...channelToWire(channel),
    ...(secret === null ? {} : { secret }),
    ...(told.length === 0 ? {} : { warnings: told }),
  }
}

/** A channel on the wire. */
export function channelToWire(channel: Channel): ChannelView {
  return {
    name: channel.name,
    status: channel.status,
    url: channel.url,
    headers: channel.headers,
    tls: {
      certificateAuthority: channel.tls.certificateAuthority,
      clientCertificate: channel.tls.clientCertificate,
      hasClientKey: channel.tls.clientKey !== null,
    },
    ...channel.limits,
    requestsPerSecond: channel.limits.requestsPerSecond ?? 0,
    confirmations: channel.confirmations,
    retract: channel.isRetracting,
    alertChannel: channel.alertChannel,
    paused: channel.isPaused,
    disabledReason: channel.disabledReason,
    failures: channel.failures,
    failingSince: instantToWire(channel.failingSinceAt),
    nextAttemptAt: instantToWire(isWaitingToRetry(channel) ? channel.nextAttemptAt : null),
    lastError: channel.lastError,
    pendingMessages: channel.pendingMessages,
    heldMessages: channel.heldMessages,
    oldestPendingAt: instantToWire(channel.oldestPendingAt),
    deadLetters: channel.deadLetters,
    successRate: channel.recentAttempts === 0 ? null : channel.recentAcknowledged / channel.recentAttempts,
    previousSecretUntil: instantToWire(channel.previousSecretUntilAt),
    createdAt: new Date(channel.createdAt).toISOString(),
  }
}

/**
 * An attempt needs something to send, as what failed last may since have become a dead letter, and a channel that
 * nobody paused or disabled meanwhile.
 */
function isWaitingToRetry({ status, pendingMessages }: Channel): boolean {
  return status === 'failing' && pendingMessages > 0
}

function instantToWire(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
