import type { AttemptView, ChannelTest, ChannelUpdate, ChannelView, DeadLetterList } from '@millrace/contract'
import { queryOptions } from '@tanstack/react-query'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { instantMs } from '../parts/instant.ts'

function channelPath(address: ProjectAddress, channel: string): string {
  return `/webhook/channels/${projectPath(address)}/${encodeURIComponent(channel)}`
}

/** One channel, live. */
export function channelQuery(address: ProjectAddress, channel: string) {
  return queryOptions({
    queryKey: ['channel', address, channel],
    queryFn: ({ signal }) => request<ChannelView>(channelPath(address, channel), { signal }),
    refetchInterval: 2000,
  })
}

/** Which attempts to show. */
export interface AttemptFilter {
  readonly outcome: string
  readonly status: string
  /** As a time picker has it; null is any time. */
  readonly range: { readonly from: string; readonly to: string } | null
}

/** The newest attempts of a channel, live. */
export function attemptsQuery(
  address: ProjectAddress,
  channel: string,
  { outcome, status, range }: AttemptFilter,
  limit: number,
) {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(outcome === 'all' ? {} : { outcome }),
    ...(/^[1-5]\d\d$/.test(status) ? { status } : {}),
  })
  return queryOptions({
    queryKey: ['attempts', address, channel, String(query), range],
    queryFn: async ({ signal }) => {
      const asked = new URLSearchParams(query)
      if (range) {
        const now = Date.now()
        asked.set('from', new Date(instantMs(range.from, now)).toISOString())
        // What begins while the page looks on is of now, too.
        if (range.to !== 'now') asked.set('until', new Date(instantMs(range.to, now)).toISOString())
      }
      const path = `${channelPath(address, channel)}/attempts?${asked}`
      return (await request<{ attempts: readonly AttemptView[] }>(path, { signal })).attempts
    },
    refetchInterval: 3000,
    placeholderData: (before) => before,
  })
}

/** The dead letters of a channel, live. */
export function deadLettersQuery(address: ProjectAddress, channel: string) {
  return queryOptions({
    queryKey: ['letters', address, channel],
    queryFn: async ({ signal }) =>
      (
        await request<DeadLetterList>(`${channelPath(address, channel)}/deadletters?limit=1000`, {
          signal,
        })
      ).deadLetters,
    refetchInterval: 3000,
  })
}

/** Changes settings of a channel. */
export function updateChannel(
  address: ProjectAddress,
  channel: string,
  body: ChannelUpdate,
): Promise<ChannelView> {
  return request(channelPath(address, channel), { method: 'PATCH', body })
}

/** Pauses or resumes a channel. */
export function setPaused(address: ProjectAddress, channel: string, isPaused: boolean): Promise<ChannelView> {
  return request(`${channelPath(address, channel)}/${isPaused ? 'pause' : 'resume'}`, { method: 'POST' })
}

/** Sends a sample message now. */
export function testChannel(address: ProjectAddress, channel: string): Promise<ChannelTest> {
  return request(`${channelPath(address, channel)}/test`, { method: 'POST' })
}

/** Gives a channel a new secret; the answer holds it, once. */
export function rotateSecret(
  address: ProjectAddress,
  channel: string,
  overlapSeconds: number,
): Promise<ChannelView> {
  return request(`${channelPath(address, channel)}/secret`, { method: 'POST', body: { overlapSeconds } })
}

/** Deletes a channel with its messages. */
export function deleteChannel(address: ProjectAddress, channel: string): Promise<unknown> {
  return request(channelPath(address, channel), { method: 'DELETE' })
}

/** Dead letters by id, or all of a channel. */
export type LetterChoice = { readonly ids: readonly string[] } | { readonly channel: string }

/** Sends dead letters again, or removes them for good. */
export function settleLetters(
  address: ProjectAddress,
  verb: 'redrive' | 'dismiss',
  body: LetterChoice,
): Promise<{ readonly letters: number }> {
  return request(`/webhook/deadletter/${projectPath(address)}/${verb}`, { method: 'POST', body })
}
