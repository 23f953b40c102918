import type { AttemptResult, AttemptView, ChannelView } from '@millrace/contract'
import { Command, InvalidArgumentError } from 'commander'
import { channelBody, withChannelOptions, type ChannelOptions } from './channel-options.ts'
import { ask, withConnection, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { counted, printFacts, printTable, printJson, printLine, printWarnings } from './print.ts'
import { projectSegments, splitProject } from './project-command.ts'

type Project = readonly [string, string]

/** `millrace channel create|list|show|edit|pause|resume|test|rotate-secret|delete|attempts`. */
export function channelCommand(): Command {
  const command = new Command('channel').description('manage webhook channels and watch their delivery')
  const sub = (name: string, description: string) =>
    withConnection(
      command
        .command(name)
        .argument('<project>', 'owner/name', splitProject)
        .argument('<channel>', 'its name', channelName)
        .description(description),
    )

  withChannelOptions(
    sub('create', 'create a channel; its signing secret is printed once').requiredOption(
      '--to <url>',
      'address of the receiver',
    ),
  ).action(async (project: Project, name: string, options: ChannelOptions) => {
    const body = { name, ...channelBody(options) }
    printSecret(await ask<ChannelView>(options, 'POST', pathOf(project), body), options)
  })

  withConnection(
    command
      .command('list')
      .argument('<project>', 'owner/name', splitProject)
      .description('list channels with the state of their delivery'),
  ).action(async (project: Project, options: ConnectionOptions) => {
    const { channels } = await ask<{ channels: readonly ChannelView[] }>(options, 'GET', pathOf(project))
    if (options.json) printJson(channels)
    else printTable(LIST_COLUMNS, channels.map(withPercent))
  })

  sub('show', 'show a channel: its settings, queue and next attempt').action(
    async (project: Project, name: string, options: ConnectionOptions) => {
      printChannel(await ask<ChannelView>(options, 'GET', pathOf(project, name)), options)
    },
  )

  withChannelOptions(
    sub('edit', 'change a channel; what is not given stays as it is').option('--to <url>', 'new address'),
  ).action(async (project: Project, name: string, options: ChannelOptions) => {
    const channel = await ask<ChannelView>(options, 'PATCH', pathOf(project, name), channelBody(options))
    printChannel(channel, options)
  })

  for (const [verb, description] of [
    ['pause', 'stop delivery; messages wait'],
    ['resume', 'deliver again, now, also after an answer 410'],
  ] as const) {
    sub(verb, description).action(async (project: Project, name: string, options: ConnectionOptions) => {
      const channel = await ask<ChannelView>(options, 'POST', `${pathOf(project, name)}/${verb}`)
      if (options.json) printJson(channel)
      else
        printLine(
          `Channel ${name} is ${channel.status}; waiting: ${counted(channel.pendingMessages, 'message')}.`,
        )
    })
  }

  sub('test', 'send a sample message now').action(
    async (project: Project, name: string, options: ConnectionOptions) => {
      const result = await ask<AttemptResult>(options, 'POST', `${pathOf(project, name)}/test`)
      if (options.json) printJson(result)
      else printLine(`${result.outcome} in ${result.durationMs} ms: ${result.reason}`)
      if (result.outcome !== 'acknowledged') process.exitCode = 1
    },
  )

  sub('rotate-secret', 'make a new signing secret; the one before signs as well for a while')
    .option('--overlap-seconds <seconds>', 'how long; default a day', parseCount)
    .action(
      async (project: Project, name: string, options: ConnectionOptions & { overlapSeconds?: number }) => {
        const { overlapSeconds } = options
        const body = overlapSeconds === undefined ? {} : { overlapSeconds }
        printSecret(await ask<ChannelView>(options, 'POST', `${pathOf(project, name)}/secret`, body), options)
      },
    )

  sub('delete', 'delete a channel with everything that waits in it').action(
    async (project: Project, name: string, options: ConnectionOptions) => {
      const channel = await ask<ChannelView>(options, 'DELETE', pathOf(project, name))
      if (options.json) printJson(channel)
      else
        printLine(
          `Deleted channel ${name}, with ${counted(channel.pendingMessages, 'message')} that waited in it.`,
        )
    },
  )

  sub('attempts', 'list the calls to the receiver, newest first')
    .option('--limit <number>', 'at most 1000; default 100', parseCount)
    .option('--outcome <outcome>', 'acknowledged, refused, timed_out, unreachable or failed')
    .option('--status <status>', 'answers with this status', parseCount)
    .option('--from <instant>', 'started then or later')
    .option('--until <instant>', 'started before')
    .option('--before <id>', 'continue behind this id')
    .action(async (project: Project, name: string, options: ConnectionOptions & AttemptOptions) => {
      const { limit, outcome, status, from, until, before } = options
      const filters = { limit, outcome, status, from, until, before }
      const query = new URLSearchParams()
      for (const [key, value] of Object.entries(filters)) {
        if (value !== undefined) query.set(key, String(value))
      }
      const path = `${pathOf(project, name)}/attempts?${query.toString()}`
      const { attempts } = await ask<{ attempts: readonly AttemptView[] }>(options, 'GET', path)
      if (options.json) printJson(attempts)
      else printTable(ATTEMPT_COLUMNS, attempts)
    })
  return command
}

interface AttemptOptions {
  readonly limit?: number
  readonly outcome?: string
  readonly status?: number
  readonly from?: string
  readonly until?: string
  readonly before?: string
}

const LIST_COLUMNS = [
  'name',
  'status',
  'url',
  'pendingMessages',
  'oldestPendingAt',
  'deadLetters',
  'successRate',
  'failures',
  'nextAttemptAt',
  'lastError',
]
const ATTEMPT_COLUMNS = ['id', 'startedAt', 'durationMs', 'outcome', 'status', 'messages', 'bytes', 'reason']

/** Name of a channel; one that a path would lose, and with it what was asked, is refused. */
export function channelName(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new InvalidArgumentError('A name is needed, and "." and ".." are none.')
  return text
}

function withPercent(channel: ChannelView) {
  const { successRate } = channel
  return { ...channel, successRate: successRate === null ? null : `${Math.round(successRate * 100)} %` }
}

function pathOf(project: Project, channel?: string): string {
  const base = `/webhook/channels/${projectSegments(project)}`
  return channel === undefined ? base : `${base}/${encodeURIComponent(channel)}`
}

function printSecret(channel: ChannelView, options: ConnectionOptions): void {
  printWarnings(channel.warnings)
  if (options.json) printJson(channel)
  else printLine(`${channel.secret}\nThe signing secret of channel ${channel.name}: it is not shown again.`)
}

function printChannel(channel: ChannelView, options: ConnectionOptions): void {
  const { warnings, ...settings } = channel
  printWarnings(warnings)
  if (options.json) printJson(channel)
  else {
    printFacts(withPercent(settings))
  }
}
