import { AttemptList, AttemptQuery, type AttemptResult } from '@millrace/contract'
import type { Static } from 'typebox'
import type { Attempt, AttemptFilter, AttemptStore } from '../../delivery/attempt.ts'
import type { Channels } from '../../delivery/manage-channels.ts'
import { invalidArgument } from '../../platform/errors.ts'
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
      const page = { limit: query.limit ?? DEFAULT_LIMIT, beforeId, ...filterOf(query) }
      const rows = await attempts.list(id, page)
      return { attempts: rows.map((attempt) => ({ id: String(attempt.id), ...attemptToWire(attempt) })) }
    },
  })
}

/** Throws `invalid_argument` for a time that ends before it begins. */
function filterOf({ outcome, status, from, until }: Static<typeof AttemptQuery>): AttemptFilter {
  if (from !== undefined && until !== undefined && Date.parse(from) > Date.parse(until)) {
    throw invalidArgument('query.until: must not be before from')
  }
  return {
    outcome: outcome === undefined || outcome === 'failed' ? null : outcome,
    isFailure: outcome === 'failed',
    status: status ?? null,
    fromAt: from === undefined ? null : Date.parse(from),
    untilAt: until === undefined ? null : Date.parse(until),
  }
}

/** An attempt on the wire. */
export function attemptToWire(attempt: Attempt): AttemptResult {
  return {
    webhookId: attempt.webhookId,
    startedAt: new Date(attempt.startedAt).toISOString(),
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    reason: attempt.reason,
    messages: attempt.messages,
    bytes: attempt.bytes,
    firstEventId: attempt.firstEventId,
    lastEventId: attempt.lastEventId,
    answer: Buffer.from(attempt.answer).toString('utf8'),
  }
}
