import { isIP } from 'node:net'
import { LOG_LEVELS } from './platform/logger.ts'

/** How one setting is read: its variable, its default as text, what it means, and how text becomes a value. */
interface Setting<Value> {
  readonly variable: `MILLRACE_${string}`
  /** What an absent or empty variable means, written as the variable would be. */
  readonly default: string
  readonly description: string
  readonly isSecret?: true
  /** Throws an Error that says what is allowed. */
  parse(text: string): Value
}

function setting<Value>(definition: Setting<Value>): Setting<Value> {
  return definition
}

export const ROLES = ['api', 'worker', 'housekeeper'] as const

/** Every setting of the service. `docs/configuration.md` lists exactly these; a test keeps them equal. */
export const SETTINGS = {
  host: setting({
    variable: 'MILLRACE_HOST',
    default: '127.0.0.1',
    description: 'Address to listen on. `0.0.0.0` or `::` for every interface.',
    parse: text,
  }),
  port: setting({
    variable: 'MILLRACE_PORT',
    default: '8080',
    description: 'Port to listen on; 0 takes a free one.',
    parse: integer(0, 65_535),
  }),
  dataDirectory: setting({
    variable: 'MILLRACE_DATA_DIR',
    default: './data',
    description: 'Directory of the embedded engines. One running service a directory.',
    parse: text,
  }),
  minimumFreeBytes: setting({
    variable: 'MILLRACE_MIN_FREE_BYTES',
    default: '268435456',
    description: 'Free disk space, in bytes, below which the service does not start.',
    parse: integer(0, Number.MAX_SAFE_INTEGER),
  }),
  databaseUrl: setting({
    variable: 'MILLRACE_DATABASE_URL',
    default: '',
    description:
      'Address of a PostgreSQL database for control data, `postgres://…`, with `?prepare=false` behind it if a pooler does not keep prepared statements. Empty: SQLite in the data directory.',
    isSecret: true,
    parse: address('postgres:', 'postgresql:'),
  }),
  clickhouseUrl: setting({
    variable: 'MILLRACE_CLICKHOUSE_URL',
    default: '',
    description:
      'Address of a ClickHouse server for facts, `http://user:password@host:8123`. Empty: chDB in the data directory.',
    isSecret: true,
    parse: address('http:', 'https:'),
  }),
  engineSessions: setting({
    variable: 'MILLRACE_ENGINE_SESSIONS',
    default: '8',
    description: 'Statements that the embedded fact engine runs side by side.',
    parse: integer(2, 64),
  }),
  roles: setting({
    variable: 'MILLRACE_ROLES',
    default: 'api,worker,housekeeper',
    description:
      'What this process does: `api` answers requests, `worker` delivers webhooks, `housekeeper` removes what has expired.',
    parse: list(ROLES),
  }),
  administratorKey: setting({
    variable: 'MILLRACE_ADMIN_KEY',
    default: '',
    description: 'The administrator key. Empty: one is made at the first start and printed once (AU-4).',
    isSecret: true,
    parse: text,
  }),
  bodyLimitBytes: setting({
    variable: 'MILLRACE_BODY_LIMIT_BYTES',
    default: '33554432',
    description: 'Largest accepted request body, decompressed, in bytes; of JSON 8 MiB at most (ER-5).',
    parse: integer(1024, 1_073_741_824),
  }),
  cacheTtlSeconds: setting({
    variable: 'MILLRACE_CACHE_TTL_SECONDS',
    default: '1296000',
    description: 'Age up to which a cached answer is used when the request does not say (CA-2). 15 days.',
    parse: integer(0, 315_360_000),
  }),
  cacheRefreshTtlSeconds: setting({
    variable: 'MILLRACE_CACHE_REFRESH_TTL_SECONDS',
    default: '60',
    description:
      'Age from which a cached answer is refreshed in the background when the request does not say (CA-2).',
    parse: integer(0, 315_360_000),
  }),
  cacheMemoryBytes: setting({
    variable: 'MILLRACE_CACHE_MEMORY_BYTES',
    default: '134217728',
    description: 'Memory for cached answers, in bytes.',
    parse: integer(0, 68_719_476_736),
  }),
  metricsMemoryBytes: setting({
    variable: 'MILLRACE_METRICS_MEMORY_BYTES',
    default: '268435456',
    description:
      'Memory for buckets of metrics, in bytes; the project that holds most gives way first. 0 keeps none.',
    parse: integer(0, 1_099_511_627_776),
  }),
  sqlTimeoutSeconds: setting({
    variable: 'MILLRACE_SQL_TIMEOUT_SECONDS',
    default: '60',
    description: 'Running time of one SQL statement (SQ-7).',
    parse: integer(1, 86_400),
  }),
  sqlMemoryBytes: setting({
    variable: 'MILLRACE_SQL_MEMORY_BYTES',
    default: '2147483648',
    description: 'Memory of one SQL statement, in bytes (SQ-7).',
    parse: integer(16_777_216, 1_099_511_627_776),
  }),
  sqlResultBytes: setting({
    variable: 'MILLRACE_SQL_RESULT_BYTES',
    default: '1073741824',
    description: 'Size of one SQL result over all its pages, in bytes (CU-3).',
    parse: integer(1_048_576, 1_099_511_627_776),
  }),
  sqlProjectBytes: setting({
    variable: 'MILLRACE_SQL_PROJECT_BYTES',
    default: '1073741824',
    description: 'Size of all kept SQL results of a project, compressed, in bytes (CU-3).',
    parse: integer(1_048_576, 1_099_511_627_776),
  }),
  sqlTotalBytes: setting({
    variable: 'MILLRACE_SQL_TOTAL_BYTES',
    default: '4294967296',
    description: 'Size of all kept SQL results, compressed, in bytes (CU-3).',
    parse: integer(1_048_576, 1_099_511_627_776),
  }),
  sqlRowsRead: setting({
    variable: 'MILLRACE_SQL_ROWS_READ',
    default: '1000000000',
    description: 'Rows that one SQL statement may read (SQ-7).',
    parse: integer(1000, Number.MAX_SAFE_INTEGER),
  }),
  sqlConcurrency: setting({
    variable: 'MILLRACE_SQL_CONCURRENCY',
    default: '4',
    description: 'SQL statements of one project that one process runs at once (SQ-7).',
    parse: integer(1, 64),
  }),
  sqlQueue: setting({
    variable: 'MILLRACE_SQL_QUEUE',
    default: '100',
    description: 'SQL statements of one project that may wait for their turn (SQ-7).',
    parse: integer(0, 10_000),
  }),
  webhookAllowedCidrs: setting({
    variable: 'MILLRACE_WEBHOOK_ALLOWED_CIDRS',
    default: '',
    description:
      'Private networks that webhooks may reach all the same, e.g. `127.0.0.0/8,10.1.0.0/16`. For development (DL-10).',
    parse: cidrs,
  }),
  webhookConcurrency: setting({
    variable: 'MILLRACE_WEBHOOK_CONCURRENCY',
    default: '256',
    description: 'Webhook calls that one process has under way at once.',
    parse: integer(1, 10_000),
  }),
  webhookHostConcurrency: setting({
    variable: 'MILLRACE_WEBHOOK_HOST_CONCURRENCY',
    default: '64',
    description: 'Of these, calls to one host and port, however many channels share it (DL-9).',
    parse: integer(1, 10_000),
  }),
  webhookQueueBytes: setting({
    variable: 'MILLRACE_WEBHOOK_QUEUE_BYTES',
    default: String(8 * 1024 ** 3),
    description:
      'Bytes of messages that may wait to be delivered; half of them in one project, a quarter in one channel. Beyond that, exports are refused.',
    parse: integer(1024 * 1024, Number.MAX_SAFE_INTEGER),
  }),
  logLevel: setting({
    variable: 'MILLRACE_LOG_LEVEL',
    default: 'info',
    description: 'Least severe level that is logged: trace, debug, info, warn, error, fatal, silent.',
    parse: oneOf(LOG_LEVELS),
  }),
  logFormat: setting({
    variable: 'MILLRACE_LOG_FORMAT',
    default: 'auto',
    description: '`json`, `pretty`, or `auto`: pretty on a terminal.',
    parse: oneOf(['auto', 'json', 'pretty']),
  }),
} as const

type Settings = typeof SETTINGS

/** The configuration of a process. Only this module reads the environment. */
export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['parse']> }

/** Values that win over the environment, e.g. from command line options. */
export type ConfigOverrides = { readonly [Name in keyof Settings]?: string | number | undefined }

/**
 * Reads the configuration. Throws an Error that names the variable and what it allows. Variables that begin with
 * `MILLRACE_` and are not settings are refused too: a misspelt limit must not be silently ignored.
 */
export function loadConfig(
  overrides: ConfigOverrides = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  refuseUnknown(environment)
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([name, definition]) => {
      const override = overrides[name as keyof Settings]
      const given = override === undefined ? environment[definition.variable] : String(override)
      try {
        return [name, definition.parse(given === undefined || given === '' ? definition.default : given)]
      } catch (error) {
        throw new Error(`${definition.variable} ${(error as Error).message}`, { cause: error })
      }
    }),
  ) as Config
}

/** The configuration as it may be logged: secrets only as present or absent. */
export function redactConfig(config: Config): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([name, definition]) => {
      const value = config[name as keyof Settings]
      return 'isSecret' in definition ? [`${name}IsSet`, value !== ''] : [name, value]
    }),
  )
}

/** Variables that the command line (not the service) reads. */
const CLIENT_VARIABLES = ['MILLRACE_URL', 'MILLRACE_API_KEY']

function refuseUnknown(environment: Readonly<Record<string, string | undefined>>): void {
  const known = new Set<string>([
    ...CLIENT_VARIABLES,
    ...Object.values(SETTINGS).map(({ variable }) => variable),
  ])
  for (const name of Object.keys(environment)) {
    if (name.startsWith('MILLRACE_') && !name.startsWith('MILLRACE_TEST_') && !known.has(name)) {
      throw new Error(`${name} is not a setting; docs/configuration.md lists them all`)
    }
  }
}

function text(value: string): string {
  return value
}

function words(value: string): readonly string[] {
  return value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function integer(minimum: number, maximum: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < minimum || number > maximum) {
      throw new Error(`must be an integer from ${minimum} to ${maximum}, not "${value}"`)
    }
    return number
  }
}

function oneOf<const Option extends string>(options: readonly Option[]): (value: string) => Option {
  return (value) => {
    const option = options.find((each) => each === value)
    if (option === undefined) throw new Error(`must be one of ${options.join(', ')}, not "${value}"`)
    return option
  }
}

function list<const Option extends string>(options: readonly Option[]): (value: string) => readonly Option[] {
  return (value) => {
    const chosen = words(value).map(oneOf(options))
    if (chosen.length === 0) throw new Error(`must be one or more of ${options.join(', ')}, not "${value}"`)
    return chosen
  }
}

function cidrs(value: string): readonly string[] {
  const given = words(value)
  const wrong = given.find((cidr) => !isCidr(cidr))
  if (wrong !== undefined) {
    throw new Error(`must be addresses, each with a prefix length such as 10.0.0.0/8, not "${wrong}"`)
  }
  return given
}

function isCidr(text: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return Number(prefix ?? 0) <= bits
}

function address(...protocols: readonly string[]): (value: string) => string {
  return (value) => {
    // The value is a secret: the message must not repeat it.
    if (value !== '' && !(URL.canParse(value) && protocols.includes(new URL(value).protocol))) {
      throw new Error(`must be an address that begins with ${protocols.join('// or ')}//`)
    }
    return value
  }
}
