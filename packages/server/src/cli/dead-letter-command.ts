import type { DeadLetterCount, DeadLetterList } from '@millrace/contract'
import { createClient } from '@millrace/sdk'
import { Command } from 'commander'
import { channelName } from './channel-command.ts'
import { ask, collect, connectionOf, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { counted, printTable, printJson, printLine } from './print.ts'
import { projectSegments, splitProject } from './project-command.ts'
import { UsageError } from './usage-error.ts'

interface PullOptions extends ConnectionOptions {
  readonly limit: number
  readonly after?: string
  readonly channel?: string
}

interface ChoiceOptions extends ConnectionOptions {
  readonly id?: readonly string[]
  readonly channel?: string
  readonly all?: true
}

/** `millrace deadletter pull|list|redrive|dismiss`; without a verb it pulls. */
export function deadLetterCommand(): Command {
  const command = new Command('deadletter').description('pull, list, send again and dismiss dead letters')
  withConnection(
    command
      .command('pull', { isDefault: true })
      .argument('<project>', 'owner/name', splitProject)
      .description('pull dead letters; pulling removes nothing')
      .option('--limit <batches>', 'at most 10', parseCount, 10)
      .option('--channel <name>', 'of this channel only')
      .option('--after <id>', 'continue behind this id'),
  ).action(pull)
  withConnection(
    command
      .command('list')
      .argument('<project>', 'owner/name', splitProject)
      .argument('<channel>', 'its name', channelName)
      .description('list the dead letters of a channel without their messages')
      .option('--limit <letters>', 'at most 1000; default 100', parseCount)
      .option('--after <id>', 'continue behind this id'),
  ).action(list)
  for (const [verb, description, done] of [
    ['redrive', 'send dead letters again, at the end of their queues', 'will be sent again'],
    ['dismiss', 'remove dead letters for good', 'dismissed'],
  ] as const) {
    withConnection(
      command
        .command(verb)
        .argument('<project>', 'owner/name', splitProject)
        .description(description)
        .option('--id <id>', 'this letter; repeatable', collect)
        .option('--channel <name>', 'all letters of this channel')
        .option('--all', 'all letters of the project'),
    ).action(async (project: readonly [string, string], options: ChoiceOptions) => {
      const { id: ids, channel, all } = options
      if ([ids, channel, all].filter((choice) => choice !== undefined).length !== 1) {
        throw new UsageError('say which letters: --id, --channel or --all')
      }
      const path = `/webhook/deadletter/${projectSegments(project)}/${verb}`
      const answer = await ask<DeadLetterCount>(options, 'POST', path, { ids, channel, all })
      if (options.json) printJson(answer)
      else printLine(`${counted(answer.letters, 'letter')} ${done}.`)
    })
  }
  return command
}

async function pull([owner, name]: readonly [string, string], options: PullOptions): Promise<void> {
  const { limit, after, channel } = options
  const { messages } = await createClient(connectionOf(options)).pullDeadLetters(`${owner}/${name}`, {
    limit,
    ...(after === undefined ? {} : { after }),
    ...(channel === undefined ? {} : { channel }),
  })
  if (options.json) {
    printJson(messages)
    return
  }
  const rows = messages.map(({ id, attributes, data }) => ({
    id,
    channel: attributes.channel_name,
    messages: (JSON.parse(data) as readonly unknown[]).length,
    ...attributes,
  }))
  const more = Object.keys(messages[0]?.attributes ?? {}).filter((name) => name !== 'channel_name')
  printTable(['id', 'channel', 'messages', ...more], rows)
}

async function list(
  project: readonly [string, string],
  channel: string,
  options: ConnectionOptions & { readonly limit?: number; readonly after?: string },
): Promise<void> {
  const query = new URLSearchParams({
    ...(options.limit === undefined ? {} : { limit: String(options.limit) }),
    ...(options.after === undefined ? {} : { after: options.after }),
  })
  const path = `/webhook/channels/${projectSegments(project)}/${encodeURIComponent(channel)}/deadletters`
  const { deadLetters } = await ask<DeadLetterList>(options, 'GET', `${path}?${query.toString()}`)
  if (options.json) printJson(deadLetters)
  else printTable(LIST_COLUMNS, deadLetters)
}

const LIST_COLUMNS = ['id', 'diedAt', 'messages', 'attempts', 'lastStatus', 'lastError', 'redriveRequestedAt']
