import { DeadLetterAnswer, DeadLetterQuery } from '@millrace/contract'
import { letterData, type DeadLetter, type DeadLetterStore } from '../../delivery/dead-letter.ts'
import type { Clock } from '../../platform/clock.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

const DEFAULT_LIMIT = 10

/** `GET /webhook/deadletter/{owner}/{project}`: the pull of interface 4.3. */
export function deadLettersRoute(letters: DeadLetterStore, clock: Clock): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/webhook/deadletter/:owner/:project',
    permission: 'read',
    summary: 'Pulls dead letters.',
    description:
      'Changes no state: a letter stays until 7 days after it died. The least recently pulled come first, so repeated pulls walk through all of them (DD-2).',
    tag: 'webhook',
    query: DeadLetterQuery,
    answer: DeadLetterAnswer,
    handle: async ({ project, query }) => {
      const pulled = await letters.pull(project.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        channel: query.channel ?? null,
        afterId: query.after === undefined ? null : Number(query.after),
        nowMs: clock.now(),
      })
      return { messages: pulled.map(toWire) }
    },
  })
}

function toWire(letter: DeadLetter): DeadLetterAnswer['messages'][number] {
  return {
    id: String(letter.id),
    attributes: {
      channel_name: letter.channel,
      attempts: String(letter.attempts),
      last_status: letter.lastStatus === null ? '' : String(letter.lastStatus),
      last_error: letter.lastError,
      died_at: new Date(letter.diedAt).toISOString(),
    },
    data: letterData(letter),
  }
}
