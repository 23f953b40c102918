import { AttemptList, AttemptQuery } from '@millrace/contract'
import type { AttemptStore } from '../../delivery/attempt.ts'
import type { Channels } from '../../delivery/manage-channels.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { CHANNEL_PATH, ChannelParams } from './channel.ts'

const DEFAULT_LIMIT = 100

/** `GET /webhook/channels/{owner}/{project}/{channel}/attempts` (DL-11). */
export function attemptsRoute(channels: Channels, attempts: AttemptStore): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: `${CHANNEL_PATH}/attempts`,
    params: ChannelParams,
    query: AttemptQuery,
    permission: 'admin',
    summary: 'The calls to the receiver of a channel, newest first.',
    tag: 'webhook',
    answer: AttemptList,
    handle: async ({ project, params, query }) => {
      const { id } = await channels.get(project.id, params.channel)
      const beforeId = query.before === undefined ? null : Number(query.before)
      const rows = await attempts.list(id, { limit: query.limit ?? DEFAULT_LIMIT, beforeId })
      return {
        attempts: rows.map((attempt) => ({
          ...attempt,
          id: String(attempt.id),
          startedAt: new Date(attempt.startedAt).toISOString(),
          answer: Buffer.from(attempt.answer).toString('utf8'),
        })),
      }
    },
  })
}
