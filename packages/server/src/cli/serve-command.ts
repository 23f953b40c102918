import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { printLine } from './print.ts'
import { overridesOf, withService, type ServiceOptions } from './service-options.ts'
import { untilStopped } from './until-stopped.ts'

/** `millrace serve`. */
export function serveCommand(): Command {
  return withService(new Command('serve').description('run the service')).action(
    async (options: ServiceOptions) => {
      const { serve } = await import('../processes/serve.ts')
      await untilStopped(async () => {
        const service = await serve(loadConfig(overridesOf(options)))
        if (service.address !== '') printLine(`Millrace listens on ${service.address}`)
        if (service.administratorKey !== null) {
          printLine(`Administrator key, shown this once: ${service.administratorKey}`)
        }
        return () => service.stop()
      })
    },
  )
}
