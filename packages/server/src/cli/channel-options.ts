import { readFileSync } from 'node:fs'
import type { ChannelUpdate } from '@millrace/contract'
import type { Command } from 'commander'
import { collect, type ConnectionOptions } from './connection-options.ts'
import { parseCount } from './parse-count.ts'
import { UsageError } from './usage-error.ts'

/** What of a channel can be set from the command line. */
export interface ChannelOptions extends ConnectionOptions {
  readonly to?: string
  readonly header?: readonly string[]
  /** False takes all headers away. */
  readonly headers: boolean
  readonly maxBatchMessages?: number
  readonly maxBatchBytes?: number
  readonly requestsAtOnce?: number
  readonly requestsPerSecond?: number
  readonly backoffInitialMs?: number
  readonly backoffCapMs?: number
  readonly deadLetterAgeMs?: number
  readonly deadLetterAttempts?: number
  readonly confirmations?: number
  readonly retract?: boolean
  readonly alertChannel?: string
  readonly caFile?: string
  readonly certificateFile?: string
  readonly keyFile?: string
}

/** Adds the settings of a channel, which `create` and `edit` share. */
export function withChannelOptions(command: Command): Command {
  return command
    .option('--header <name: value>', 'sent with every call; repeatable', collect)
    .option('--no-headers', 'send none of its own')
    .option('--max-batch-messages <number>', 'messages a call', parseCount)
    .option('--max-batch-bytes <number>', 'bytes a call', parseCount)
    .option('--requests-at-once <number>', 'calls under way at once; 1 keeps their order', parseCount)
    .option('--requests-per-second <number>', 'calls a second at most; 0 is no limit', parseCount)
    .option('--backoff-initial-ms <ms>', 'wait after the first failure', parseCount)
    .option('--backoff-cap-ms <ms>', 'the longest wait', parseCount)
    .option('--dead-letter-age-ms <ms>', 'age from which a message may be given up', parseCount)
    .option('--dead-letter-attempts <number>', 'failures from which a message may be given up', parseCount)
    .option('--confirmations <blocks>', 'hold messages until their block is that deep', parseCount)
    .option('--retract', 'announce delivered messages that a reorganisation removed')
    .option('--no-retract', 'announce none')
    .option('--alert-channel <name>', 'channel that is told of long failures; "" is none')
    .option('--ca-file <path>', 'certificates in PEM to trust besides the public ones')
    .option('--certificate-file <path>', 'client certificate in PEM')
    .option('--key-file <path>', 'its private key in PEM')
}

/** The body of a request from the options; what was not given is left out. */
export function channelBody(options: ChannelOptions): ChannelUpdate {
  const { caFile, certificateFile, keyFile } = options
  const backoff = given({ initialMs: options.backoffInitialMs, capMs: options.backoffCapMs })
  const deadLetter = given({ ageMs: options.deadLetterAgeMs, attempts: options.deadLetterAttempts })
  const tls = given({
    certificateAuthority: readText('--ca-file', caFile),
    clientCertificate: readText('--certificate-file', certificateFile),
    clientKey: readText('--key-file', keyFile),
  })
  return given({
    url: options.to,
    headers: headersOf(options),
    maxBatchMessages: options.maxBatchMessages,
    maxBatchBytes: options.maxBatchBytes,
    requestsAtOnce: options.requestsAtOnce,
    requestsPerSecond: options.requestsPerSecond,
    confirmations: options.confirmations,
    retract: options.retract,
    alertChannel: options.alertChannel,
    backoff: orNothing(backoff),
    deadLetter: orNothing(deadLetter),
    tls: orNothing(tls),
  })
}

function headersOf({ header, headers }: ChannelOptions): Readonly<Record<string, string>> | undefined {
  if (!headers && header !== undefined) throw new UsageError('--header and --no-headers exclude each other')
  if (!headers) return {}
  const entries = header?.map(splitHeader)
  const twice = entries?.find(([name], place) => entries.findIndex(([other]) => other === name) < place)
  if (twice !== undefined) throw new UsageError(`--header "${twice[0]}" is given twice`)
  return entries && Object.fromEntries(entries)
}

function given(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function orNothing(members: Readonly<Record<string, unknown>>) {
  return Object.keys(members).length === 0 ? undefined : members
}

function readText(option: string, path: string | undefined): string | undefined {
  if (path === undefined || path === '') return path
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${option} ${path} cannot be read: ${(error as Error).message}`)
  }
}

function splitHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--header is written "name: value", not "${text}"`)
  }
  return [name, value]
}
