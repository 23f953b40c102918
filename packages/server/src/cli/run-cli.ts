import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { channelCommand } from './channel-command.ts'
import { deadLetterCommand } from './dead-letter-command.ts'
import { describeFailure } from './describe-failure.ts'
import { importCommand } from './import-command.ts'
import { keyCommand } from './key-command.ts'
import { projectCommand } from './project-command.ts'
import { queryCommand } from './query-command.ts'
import { serveCommand } from './serve-command.ts'
import { sqlCommand } from './sql-command.ts'
import { startCommand } from './start-command.ts'
import { UsageError } from './usage-error.ts'

/** Runs one command and returns the exit code: 0 done, 1 failed, 2 wrong usage. Never throws. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = new Command('millrace')
    .version(readVersion())
    // `sql --version 3` is about the processor.
    .enablePositionalOptions()
    .description('Data service for on-chain data: metrics, SQL, webhooks.')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(run with --help for the usage)')
  const commands = [
    startCommand(),
    serveCommand(),
    projectCommand(),
    keyCommand(),
    channelCommand(),
    queryCommand(),
    sqlCommand(),
    importCommand(),
    deadLetterCommand(),
  ]
  for (const command of commands) program.addCommand(command)
  throwInsteadOfExiting(program)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return typeof process.exitCode === 'number' ? process.exitCode : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`error: ${describeFailure(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function readVersion(): string {
  const manifest = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

function throwInsteadOfExiting(command: Command): void {
  command.exitOverride()
  for (const each of command.commands) throwInsteadOfExiting(each)
}

const EXAMPLES = `
Examples:
  millrace start                                    the service with a demo
  millrace serve --port 9000 --data-dir /var/lib/millrace
  export MILLRACE_URL=http://127.0.0.1:8080 MILLRACE_API_KEY=mr_…
  millrace project create demo/erc20
  millrace key create processor --project demo/erc20 --permission write
  millrace channel create demo/erc20 treasury --to https://example.com/hook
  millrace query demo/erc20 mint_sum --function rollup_sum:1d --start now-7d --step 86400
  millrace sql demo/erc20 'select * from Transfer order by value desc limit 5'
  millrace import demo/erc20 transfers.csv --as event:Transfer --chain 1`
