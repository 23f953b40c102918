import { loadConfig, type Config } from '../../config.ts'
import { startDemo, type Demo } from '../../demo/start-demo.ts'
import { describeFailure } from '../describe-failure.ts'
import { overridesOf } from '../service-options.ts'
import type { StartOptions } from '../start-command.ts'
import { untilStopped } from '../until-stopped.ts'
import { checkInput, chooseInput } from './choose-input.ts'
import { createDemoStateFile } from './demo-state.ts'
import { prepareChannels, prepareProject, PROJECT_ADDRESS } from './prepare-project.ts'
import { createProgress, formatBar, type Progress } from './show-progress.ts'
import { formatCurl, tryCommands } from './try-commands.ts'

/** Runs the service and the demo until it is stopped. */
export async function runStart(options: StartOptions): Promise<void> {
  await checkInput(options)
  const progress = createProgress(process.stdout)
  const config = configOf(options)
  const { serve } = await import('../../processes/serve.ts')
  await untilStopped(async () => {
    const startedAt = performance.now()
    progress.line(`Millrace: starting the engines on ${config.dataDirectory} …`)
    const service = await serve(config)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    progress.line(`Ready after ${seconds} s: ${service.address} (documentation at ${service.address}/docs)`)
    if (service.administratorKey !== null) {
      progress.line(`\nAdministrator key, shown this once:\n  ${service.administratorKey}\n`)
    }
    let demo: Demo | null = null
    if (options.demo && service.address !== '') {
      const key = service.administratorKey ?? (config.administratorKey || null)
      demo = await startDemoOf(options, config, service.address, key, progress)
    }
    progress.line('Ctrl-C stops it.')
    return async () => {
      await demo?.stop()
      await service.stop()
      progress.line('Stopped.')
    }
  })
}

/** The demo's receiver is on loopback, where webhooks may not go unless it is allowed (DL-10). */
function configOf(options: StartOptions): Config {
  const overrides = overridesOf(options)
  const config = loadConfig(overrides)
  if (!options.demo) return config
  return loadConfig({
    ...overrides,
    webhookAllowedCidrs: [...config.webhookAllowedCidrs, '127.0.0.1/32'].join(','),
  })
}

async function startDemoOf(
  options: StartOptions,
  config: Config,
  url: string,
  administratorKey: string | null,
  progress: Progress,
): Promise<Demo | null> {
  const file = createDemoStateFile(config.dataDirectory)
  const prepared = await prepareProject(url, administratorKey, file)
  if ('reason' in prepared) {
    progress.line(`The demo is left away: ${prepared.reason}. (--no-demo says so beforehand.)`)
    return null
  }
  const { state } = prepared
  const input = await chooseInput(options, state, file)
  progress.line(`Demo project ${PROJECT_ADDRESS}, input: ${INPUT_NAMES[input.kind]}`)

  return startDemo({
    baseUrl: url,
    apiKey: state.apiKey,
    project: PROJECT_ADDRESS,
    input,
    receiverPort: options.receiverPort,
    onListening: async (port) => prepareChannels(url, (await file.read()) ?? state, port, file),
    onReport(report) {
      switch (report.kind) {
        case 'progress':
          progress.update(
            `  ${formatBar(report.done, report.total)}  ${report.records} transfers and swaps sent`,
          )
          break
        case 'current':
          progress.line(report.blocks === 0 ? '  Data is up to date.' : `  ${report.blocks} blocks sent.`)
          showCommands(url, state.apiKey, progress).catch((error: unknown) => {
            progress.line(`The commands cannot be shown: ${describeFailure(error)}`)
          })
          break
        case 'line':
          progress.line(`  [${report.source}] ${report.text}`)
          break
        case 'fault':
          progress.line(`The demo has ended: ${report.message}`)
          break
      }
    },
  })
}

async function showCommands(url: string, apiKey: string, progress: Progress): Promise<void> {
  const commands = await tryCommands(url, apiKey)
  progress.line('\nTry it:')
  for (const [index, command] of commands.entries()) {
    progress.line(`\n${index + 1}. ${command.title}\n${formatCurl(url, apiKey, command)}`)
  }
  progress.line('')
}

const INPUT_NAMES = {
  simulation: 'a simulated token and swap pool (--logs or --rpc take real ones)',
  logs: 'recorded logs',
  rpc: 'an Ethereum node',
} as const
