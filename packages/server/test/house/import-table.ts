/** The folders of the server that hold the field's knowledge, and what each may know of the others. No cycles. */
export const DOMAIN_FOLDERS = {
  projects: [],
  cache: ['projects'],
  metrics: ['projects', 'cache'],
  analytics: ['projects', 'cache'],
  delivery: ['projects'],
  ingest: ['projects', 'cache', 'delivery'],
} as const satisfies Record<string, readonly string[]>

const DOMAINS = Object.keys(DOMAIN_FOLDERS)

/**
 * What a module of each folder of the server may import: other folders of the server, and packages of the workspace.
 * Edges implement the ports that domain folders declare and never meet; `'*'` is for those that wire the parts.
 */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  platform: ['@millrace/contract'],
  ...Object.fromEntries(
    Object.entries(DOMAIN_FOLDERS).map(([name, others]) => [
      name,
      ['platform', '@millrace/contract', ...others],
    ]),
  ),
  http: ['platform', '@millrace/contract', ...DOMAINS],
  // The contract for its error codes.
  clickhouse: ['platform', '@millrace/contract', ...DOMAINS],
  database: ['platform', ...DOMAINS],
  webhooks: ['platform', 'delivery'],
  embedded: ['platform'],
  // An ordinary client that happens to be started by the service: it knows the wire and nothing behind it.
  demo: ['platform', '@millrace/contract', '@millrace/sdk'],
  cli: ['platform', '@millrace/contract', '@millrace/sdk', 'demo', 'processes', 'config.ts'],
  processes: ['*'],
  'compose.ts': ['*'],
  'config.ts': ['platform'],
  'main.ts': ['cli'],
}

/** The one home of each library: a package by its name, and what a folder may use of Node beyond computing. */
export const LIBRARY_HOMES: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http'],
  '@fastify/compress': ['http'],
  '@fastify/swagger': ['http'],
  '@fastify/swagger-ui': ['http'],
  typebox: ['@millrace/contract', 'http'],
  kysely: ['database'],
  pg: ['database'],
  'node:sqlite': ['database'],
  '@clickhouse/client': ['clickhouse'],
  chdb: ['embedded'],
  undici: ['webhooks'],
  viem: ['demo'],
  commander: ['cli'],
  hyparquet: ['cli'],
  pino: ['platform'],
  'pino-pretty': ['platform'],
}

/** Modules of Node that compute or wait. Everything else of Node is input or output, and no domain folder's business. */
export const COMPUTING_MODULES: readonly string[] = [
  'node:assert',
  'node:buffer',
  'node:crypto',
  'node:perf_hooks',
  'node:stream',
  'node:string_decoder',
  'node:timers',
  'node:util',
  'node:zlib',
]
