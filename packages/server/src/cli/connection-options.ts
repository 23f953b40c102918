import { request, type Connection } from '@millrace/sdk'
import { Option, type Command } from 'commander'
import { endWithReader } from './closed-output.ts'
import { UsageError } from './usage-error.ts'

/** The options of every command that asks a running service. */
export interface ConnectionOptions {
  readonly url: string
  readonly key?: string
  readonly json?: true
}

/** Adds `--url`, `--key` and `--json`. */
export function withConnection(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'address of the service')
        .env('MILLRACE_URL')
        .default('http://127.0.0.1:8080'),
    )
    .addOption(new Option('--key <key>', 'API key').env('MILLRACE_API_KEY'))
    .option('--json', 'print JSON instead of a table')
    .hook('preAction', endWithReader)
}

/** The service and key that the options name. Throws `UsageError` for what is no address. */
export function connectionOf({ url, key = '' }: ConnectionOptions): Connection {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url (MILLRACE_URL) must be an http or https address, not "${url}"`)
  }
  return { baseUrl: url, apiKey: key }
}

/** Asks the service and returns the answer, whose shape the caller knows from the contract. */
export async function ask<Answer>(
  options: ConnectionOptions,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  json?: unknown,
): Promise<Answer> {
  const answer = await request(connectionOf(options), {
    method,
    path,
    ...(json === undefined ? {} : { json }),
  })
  return answer as Answer
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
