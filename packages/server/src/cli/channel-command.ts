import type { ChannelView } from '@millrace/contract'
import { Command } from 'commander'
import { ask, collect, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { formatTable, printJson, printLine } from './print.ts'
import { projectSegments, splitProject } from './project-command.ts'
import { UsageError } from './usage-error.ts'

interface CreateOptions extends ConnectionOptions {
  readonly to: string
  readonly header?: readonly string[]
  readonly maxBatchMessages?: number
}

/** `millrace channel create|list`. */
export function channelCommand(): Command {
  const command = new Command('channel').description('create and list webhook channels')
  withConnection(
    command
      .command('create')
      .argument('<project>', 'owner/name', splitProject)
      .argument('<channel>', 'the name that exporters are given')
      .description('create a channel; its signing secret is printed once')
      .requiredOption('--to <url>', 'address of the receiver')
      .option('--header <name: value>', 'sent with every call; repeatable', collect)
      .option('--max-batch-messages <number>', 'messages a call', parseCount),
  ).action(async (project: readonly [string, string], name: string, options: CreateOptions) => {
    const channel = await ask<ChannelView>(options, 'POST', `/webhook/channels/${projectSegments(project)}`, {
      name,
      url: options.to,
      headers: Object.fromEntries((options.header ?? []).map(splitHeader)),
      maxBatchMessages: options.maxBatchMessages,
    })
    if (options.json) printJson(channel)
    else printLine(`${channel.secret}\nThe signing secret of channel ${name}: it is not shown again.`)
  })
  withConnection(
    command.command('list').argument('<project>', 'owner/name', splitProject).description('list channels'),
  ).action(async (project: readonly [string, string], options: ConnectionOptions) => {
    const path = `/webhook/channels/${projectSegments(project)}`
    const { channels } = await ask<{ channels: readonly ChannelView[] }>(options, 'GET', path)
    if (options.json) printJson(channels)
    else
      printLine(
        formatTable(['name', 'status', 'url', 'pendingMessages', 'oldestPendingAt', 'failures'], channels),
      )
  })
  return command
}

function splitHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--header is written "name: value", not "${text}"`)
  }
  return [name, value]
}
