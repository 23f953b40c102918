import { Command } from 'commander'
import { parseCount } from './parse-count.ts'
import { withService, type ServiceOptions } from './service-options.ts'

/** Options of `millrace start` beyond those of the service. `--no-demo` makes `demo` false. */
export interface StartOptions extends ServiceOptions {
  readonly demo: boolean
  readonly rpc?: string
  readonly contract?: string
  readonly startBlock?: number
  readonly logs?: string
  readonly shiftToNow?: true
  readonly receiverPort: number
}

/** `millrace start`, which `npm start` runs. */
export function startCommand(): Command {
  const command = new Command('start')
    .description('run the service, a demo project with data, and a webhook receiver that prints what it gets')
    .option('--no-demo', 'the service alone')
    .option('--rpc <url>', 'follow an ERC-20 contract through this Ethereum node instead of simulating')
    .option('--contract <address>', 'the ERC-20 contract for --rpc')
    .option('--start-block <number>', 'first block for --rpc', parseCount)
    .option('--logs <file>', 'replay recorded logs, NDJSON or NDJSON.gz, instead of simulating')
    .option('--shift-to-now', 'move the recording in time so that its last log is now')
    .option('--receiver-port <port>', 'port of the local webhook receiver', parseCount, 8081)
    .addHelpText('after', EXAMPLES)
  return withService(command, 'error').action(async (options: StartOptions) => {
    // The demo's libraries take a second to load; the other commands do without them.
    const { runStart } = await import('./start/run-start.ts')
    await runStart(options)
  })
}

const EXAMPLES = `
Examples:
  npm start
  npm start -- --logs transfers.ndjson.gz --shift-to-now
  npm start -- --rpc https://ethereum-rpc.publicnode.com --contract 0xdac17f958d2ee523a2206206994597c13d831ec7
  npm start -- --no-demo --port 9000`
