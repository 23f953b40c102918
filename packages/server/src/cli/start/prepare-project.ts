import type { ChannelCreation, ChannelView, KeyCreated, ProjectView } from '@millrace/contract'
import { MillraceError } from '@millrace/sdk'
import { CHANNELS } from '../../demo/channels.ts'
import { RECEIVER_PATHS } from '../../demo/receive-webhooks.ts'
import { ask } from '../connection-options.ts'
import type { DemoState, DemoStateFile } from './demo-state.ts'

/** The demo's project. */
export const PROJECT = { owner: 'demo', name: 'erc20' } as const
export const PROJECT_ADDRESS = `${PROJECT.owner}/${PROJECT.name}`

type Prepared = { readonly state: DemoState } | { readonly reason: string }

/**
 * The keys of the demo project. Where nothing was prepared yet and the service has no project, creates project and keys
 * with the administrator's; says why not otherwise.
 */
export async function prepareProject(
  url: string,
  administratorKey: string | null,
  file: DemoStateFile,
): Promise<Prepared> {
  const state = await file.read()
  if (state !== null) {
    return (await isAccepted(url, state)) ? { state } : { reason: 'its project or its keys were removed' }
  }
  if (administratorKey === null) {
    return {
      reason: 'this service was started without it before, and its administrator key is not known here',
    }
  }
  const options = { url, key: administratorKey }
  const { projects } = await ask<{ projects: readonly ProjectView[] }>(options, 'GET', '/projects')
  if (projects.length > 0) return { reason: 'this service has projects of its own' }
  await ask(options, 'POST', '/projects', PROJECT)
  const createKey = async (name: string, permissions: readonly string[]) => {
    const body = { name, owner: PROJECT.owner, permissions, projects: [PROJECT_ADDRESS] }
    return (await ask<KeyCreated>(options, 'POST', '/keys', body)).secret
  }
  const created: DemoState = {
    apiKey: await createKey('demo', ['read', 'write']),
    channelKey: await createKey('demo channels', ['admin']),
    secret: null,
    recording: null,
  }
  await file.write(created)
  return { state: created }
}

async function isAccepted(url: string, { channelKey }: DemoState): Promise<boolean> {
  try {
    await ask({ url, key: channelKey }, 'GET', CHANNEL_PATH)
    return true
  } catch (error) {
    if (error instanceof MillraceError && [401, 403, 404].includes(error.status)) return false
    throw error
  }
}

const CHANNEL_PATH = `/webhook/channels/${PROJECT_ADDRESS}`

/** What is given up early, so that the first dead letter is there within seconds. */
const IMPATIENT: Partial<ChannelCreation> = {
  backoff: { initialMs: 250, capMs: 1000 },
  deadLetter: { ageMs: 500, attempts: 2 },
}

/** Gives the demo's channels the receiver's address and returns the secret of the one that it verifies. */
export async function prepareChannels(
  url: string,
  state: DemoState,
  port: number,
  file: DemoStateFile,
): Promise<string> {
  const options = { url, key: state.channelKey }
  const addressOf = (path: string) => `http://127.0.0.1:${port}${path}`
  const { channels } = await ask<{ channels: readonly ChannelView[] }>(options, 'GET', CHANNEL_PATH)
  // A start that ended between creating the channel and keeping its secret; nothing was delivered to it yet.
  const isSecretLost = state.secret === null && channels.some(({ name }) => name === CHANNELS.accepted)

  const ensure = async (name: string, path: string, more: Partial<ChannelCreation>) => {
    const isRemoved = name === CHANNELS.accepted && isSecretLost
    const present = isRemoved ? undefined : channels.find((channel) => channel.name === name)
    if (present === undefined || present.url === null) {
      const body = { name, url: addressOf(path), ...more }
      return (await ask<ChannelView>(options, 'POST', CHANNEL_PATH, body)).secret ?? null
    }
    if (present.url !== addressOf(path)) {
      await ask(options, 'PATCH', `${CHANNEL_PATH}/${name}`, { url: addressOf(path) })
    }
    return null
  }

  if (isSecretLost) await ask(options, 'DELETE', `${CHANNEL_PATH}/${CHANNELS.accepted}`)
  await ensure(CHANNELS.refused, RECEIVER_PATHS.refused, IMPATIENT)
  const secret = (await ensure(CHANNELS.accepted, RECEIVER_PATHS.accepted, {})) ?? state.secret
  if (secret === null) throw new Error(`channel ${CHANNELS.accepted} was created without a secret`)
  if (secret !== state.secret) await file.write({ ...state, secret })
  return secret
}
