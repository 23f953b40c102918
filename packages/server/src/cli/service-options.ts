import { Option, type Command } from 'commander'
import { outliveReader } from './closed-output.ts'

/** The options of the commands that run the service. What is absent comes from the environment or a default. */
export interface ServiceOptions {
  readonly port?: string
  readonly host?: string
  readonly dataDir?: string
  readonly role?: string
  readonly logLevel?: string
}

/** Adds the options of the service. Each is a setting of `docs/configuration.md`, where the others are. */
export function withService(command: Command, defaultLogLevel?: string): Command {
  const logLevel = new Option('--log-level <level>', 'least severe level that is logged').env(
    'MILLRACE_LOG_LEVEL',
  )
  return command
    .hook('preAction', outliveReader)
    .option('--port <port>', 'port to listen on, 0 for a free one (MILLRACE_PORT, 8080)')
    .option('--host <address>', 'address to listen on (MILLRACE_HOST, 127.0.0.1)')
    .option(
      '--data-dir <directory>',
      'where the embedded engines keep everything (MILLRACE_DATA_DIR, ./data)',
    )
    .option('--role <roles>', 'api,worker,housekeeper or some of them (MILLRACE_ROLES)')
    .addOption(defaultLogLevel === undefined ? logLevel : logLevel.default(defaultLogLevel))
}

/** The options as overrides of the configuration. */
export function overridesOf(options: ServiceOptions) {
  const { port, host, dataDir, role, logLevel } = options
  return { port, host, dataDirectory: dataDir, roles: role, logLevel }
}
