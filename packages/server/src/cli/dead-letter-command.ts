import { createClient } from '@millrace/sdk'
import { Command } from 'commander'
import { connectionOf, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { formatTable, printJson, printLine } from './print.ts'

interface PullOptions extends ConnectionOptions {
  readonly limit: number
  readonly after?: string
  readonly channel?: string
}

/** `millrace deadletter`. */
export function deadLetterCommand(): Command {
  return withConnection(
    new Command('deadletter')
      .argument('<project>', 'owner/name')
      .description('pull dead letters; pulling removes nothing')
      .option('--limit <batches>', 'at most 10', parseCount, 10)
      .option('--channel <name>', 'of this channel only')
      .option('--after <id>', 'continue behind this id'),
  ).action(async (project: string, options: PullOptions) => {
    const { limit, after, channel } = options
    const { messages } = await createClient(connectionOf(options)).pullDeadLetters(project, {
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
    printLine(formatTable(['id', 'channel', 'messages', ...more], rows))
  })
}
