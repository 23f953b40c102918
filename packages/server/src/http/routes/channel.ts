import { ChannelUpdate, ChannelView } from '@millrace/contract'
import { Type } from 'typebox'
import type { Channels } from '../../delivery/manage-channels.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { answerToWire, channelToWire } from './channels.ts'

/** Where one channel is. */
export const CHANNEL_PATH = '/webhook/channels/:owner/:project/:channel'
export const ChannelParams = Type.Object({ channel: Type.String() })

/** `GET`, `PATCH` and `DELETE /webhook/channels/{owner}/{project}/{channel}`. */
export function channelRoutes(channels: Channels): readonly AnyRoute[] {
  const shared = { path: CHANNEL_PATH, params: ChannelParams, permission: 'admin', tag: 'webhook' } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      summary: 'A webhook channel and the state of its lane.',
      answer: ChannelView,
      handle: async ({ project, params }) => channelToWire(await channels.get(project.id, params.channel)),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      summary: 'Changes a webhook channel.',
      description:
        'Another url, or paused: false, starts delivery afresh, also after the channel was disabled.',
      body: ChannelUpdate,
      answer: ChannelView,
      handle: async ({ project, params, body }) =>
        answerToWire(await channels.update(project.id, params.channel, body), hintsOf(body)),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      summary: 'Deletes a webhook channel with everything that waits in it. Answers with what it was.',
      answer: ChannelView,
      handle: async ({ project, params }) => {
        const channel = await channels.get(project.id, params.channel)
        await channels.remove(project.id, params.channel)
        return channelToWire(channel)
      },
    }),
  ]
}
