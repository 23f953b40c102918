import { DeadLetterChoice, DeadLetterCount, DeadLetterList, DeadLetterListQuery } from '@millrace/contract'
import type { DeadLetterStore, LetterChoice } from '../../delivery/dead-letter.ts'
import type { Channels } from '../../delivery/manage-channels.ts'
import type { Clock } from '../../platform/clock.ts'
import { invalidArgument } from '../../platform/errors.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { CHANNEL_PATH, ChannelParams } from './channel.ts'

const DEFAULT_LIMIT = 100

export interface DeadLetterOperationsDependencies {
  readonly channels: Channels
  readonly letters: DeadLetterStore
  readonly clock: Clock
}

/** Listing the dead letters of a channel, sending them again and dismissing them (DD-4). */
export function deadLetterOperationsRoutes({
  channels,
  letters,
  clock,
}: DeadLetterOperationsDependencies): readonly AnyRoute[] {
  async function choose(projectId: number, body: DeadLetterChoice): Promise<LetterChoice> {
    const choice = choiceOf(body)
    // A name that is mistyped would else look like a channel without letters.
    if (choice.channel !== null) await channels.get(projectId, choice.channel)
    return choice
  }

  return [
    defineRoute({
      method: 'GET',
      path: `${CHANNEL_PATH}/deadletters`,
      params: ChannelParams,
      query: DeadLetterListQuery,
      permission: 'admin',
      summary: 'The dead letters of a channel, without their messages.',
      tag: 'webhook',
      answer: DeadLetterList,
      handle: async ({ project, params, query }) => {
        const { name } = await channels.get(project.id, params.channel)
        const listed = await letters.list(project.id, {
          channel: name,
          limit: query.limit ?? DEFAULT_LIMIT,
          afterId: query.after === undefined ? null : Number(query.after),
          nowMs: clock.now(),
        })
        return {
          deadLetters: listed.map(({ id, diedAt, attempts, lastStatus, lastError, messages, redriveAt }) => ({
            id: String(id),
            diedAt: new Date(diedAt).toISOString(),
            attempts,
            lastStatus,
            lastError,
            messages,
            redriveRequestedAt: redriveAt === null ? null : new Date(redriveAt).toISOString(),
          })),
        }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/webhook/deadletter/:owner/:project/redrive',
      permission: 'admin',
      summary: 'Sends dead letters again (DD-4).',
      description:
        'They join the end of their queues, a part a second. Messages that were superseded meanwhile are left out (DL-8).',
      tag: 'webhook',
      body: DeadLetterChoice,
      answer: DeadLetterCount,
      handle: async ({ project, body }) => ({
        letters: await letters.requestRedrive(project.id, await choose(project.id, body), clock.now()),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/webhook/deadletter/:owner/:project/dismiss',
      permission: 'admin',
      summary: 'Removes dead letters for good (DD-4).',
      tag: 'webhook',
      body: DeadLetterChoice,
      answer: DeadLetterCount,
      handle: async ({ project, body }) => ({
        letters: await letters.dismiss(project.id, await choose(project.id, body)),
      }),
    }),
  ]
}

/** Exactly one member, so that nobody removes everything by leaving something out. */
function choiceOf({ ids, channel, all }: DeadLetterChoice): LetterChoice {
  const given = [ids !== undefined, channel !== undefined, all === true].filter(Boolean).length
  if (given !== 1) throw invalidArgument('give exactly one of ids, channel, and all: true')
  return { ids: ids?.map(Number) ?? null, channel: channel ?? null }
}
