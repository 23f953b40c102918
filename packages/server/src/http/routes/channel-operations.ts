import { ChannelTest, ChannelView, SecretRotation } from '@millrace/contract'
import type { Channels } from '../../delivery/manage-channels.ts'
import type { TestChannel } from '../../delivery/test-channel.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { attemptToWire } from './attempts.ts'
import { CHANNEL_PATH, ChannelParams } from './channel.ts'
import { answerToWire } from './channels.ts'

const DEFAULT_OVERLAP_SECONDS = 86_400

/** `POST` below `/webhook/channels/{owner}/{project}/{channel}`: `/pause`, `/resume`, `/test` and `/secret`. */
export function channelOperationsRoutes(channels: Channels, testChannel: TestChannel): readonly AnyRoute[] {
  const shared = { method: 'POST', params: ChannelParams, permission: 'admin', tag: 'webhook' } as const
  return [
    defineRoute({
      ...shared,
      path: `${CHANNEL_PATH}/pause`,
      summary: 'Stops delivery to a channel; its messages wait.',
      answer: ChannelView,
      handle: async ({ project, params }) =>
        answerToWire(await channels.update(project.id, params.channel, { paused: true })),
    }),
    defineRoute({
      ...shared,
      path: `${CHANNEL_PATH}/resume`,
      summary: 'Starts delivery to a channel again.',
      description:
        'Also after an answer 410 disabled it, and before a failing channel would be tried again. Messages age from now.',
      answer: ChannelView,
      handle: async ({ project, params }) =>
        answerToWire(await channels.update(project.id, params.channel, { paused: false })),
    }),
    defineRoute({
      ...shared,
      path: `${CHANNEL_PATH}/test`,
      summary: 'Sends a sample message now and answers what came of it (DL-12).',
      description:
        'Its export_name is millrace_test. It overtakes what waits, and is recorded as an attempt.',
      answer: ChannelTest,
      handle: async ({ project, params }): Promise<ChannelTest> => {
        const tested = await testChannel(await channels.get(project.id, params.channel))
        const { attempt, url, headers, body } = tested
        const sent = { method: 'POST', url, headers, body: Buffer.from(body).toString('utf8') }
        return { ...attemptToWire(attempt), request: sent }
      },
    }),
    defineRoute({
      ...shared,
      path: `${CHANNEL_PATH}/secret`,
      summary: 'Gives a channel a new signing secret (DL-1).',
      description:
        'The secret is shown this once. Meanwhile calls carry a signature of each, so receivers change over at any moment. Two secrets sign at most: a rotation within an overlap ends the secret before the present one, and says so in warnings.',
      body: SecretRotation,
      answer: ChannelView,
      handle: async ({ project, params, body }) => {
        const overlapSeconds = body.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS
        const rotated = await channels.rotateSecret(project.id, params.channel, overlapSeconds)
        return answerToWire(rotated, hintsOf(body))
      },
    }),
  ]
}
