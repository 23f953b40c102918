import { hash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { EngineStatement } from './engine-messages.ts'
import type { EnginePool } from './engine-pool.ts'

// Parameters of ClickHouse's HTTP interface that are no settings of the engine.
const INTERFACE_PARAMETERS = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'user',
  'password',
  'role',
  'session_id',
  'session_timeout',
  'session_check',
  'quota_key',
  'buffer_size',
  'wait_end_of_query',
  'enable_http_compression',
  'send_progress_in_http_headers',
  'cancel_http_readonly_queries_on_client_close',
])

const STATUS_BY_EXCEPTION: Readonly<Record<string, number>> = {
  36: 400,
  47: 404,
  60: 404,
  62: 400,
  81: 404,
  115: 400,
  159: 408,
  394: 499,
  516: 403,
}

/** How the service begins the id of a statement that is to be counted. */
const COUNTED = /^millrace-[\w-]+$/

const ADDRESS_BYTES_MAX = 8 * 2 ** 20
/** As many as ClickHouse's own tags have. */
const TAG_CHARACTERS = 16

interface Access {
  readonly pool: EnginePool
  readonly password: string
  readonly defaultTimeoutSeconds: number
}

interface Door extends Omit<Access, 'password'> {
  readonly passwordDigest: Buffer
}

/** The part of ClickHouse's HTTP interface that the service uses, on the pool. */
export function createEngineServer(access: Access): Server {
  const door: Door = { ...access, passwordDigest: digest(access.password) }
  // Parameters come in the address.
  const server = createServer({ maxHeaderSize: ADDRESS_BYTES_MAX }, (request, response) => {
    serve(door, request, response).catch(() => response.destroy())
  })
  // The client keeps sockets open; a socket that the server closes first is a broken insert now and then.
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  return server
}

async function serve(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://engine')
  if (url.pathname === '/ping') {
    response.end('Ok.\n')
    return
  }
  if (!isAuthorized(request, door.passwordDigest)) {
    refuse(response, 'Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)')
    return
  }
  const body = await readBody(request)
  const statement = fromWireStatement(url.searchParams, body, door.defaultTimeoutSeconds)
  if (statement.sql.trim() === '') {
    refuse(response, 'Code: 62. DB::Exception: Empty query. (SYNTAX_ERROR)')
    return
  }
  response.setHeader('x-clickhouse-query-id', url.searchParams.get('query_id') ?? statement.tag)
  run(door.pool, statement, response)
}

function run(pool: EnginePool, statement: EngineStatement, response: ServerResponse): void {
  const exceptionTag = randomUUID().replaceAll('-', '').slice(0, TAG_CHARACTERS)
  /** The first chunk of a counted statement: the answer begins with what it has read, so the later the better. */
  let held: Uint8Array | null = null
  const start = (readRows: number): void => {
    if (response.headersSent) return
    if (statement.isCounted) summarize(response, { read_rows: String(readRows) })
    response.setHeader('content-type', 'text/plain; charset=UTF-8')
    response.setHeader('x-clickhouse-exception-tag', exceptionTag)
    response.writeHead(200)
    if (held) response.write(held)
  }
  const query = pool.run(statement, {
    onChunk: (bytes, readRows) =>
      new Promise((resolve) => {
        if (statement.isCounted && held === null) {
          held = bytes
          resolve()
          return
        }
        start(readRows)
        if (response.destroyed || response.write(bytes)) resolve()
        else response.once('drain', resolve)
      }),
    onDone({ last, writtenRows, writtenBytes, readRows }) {
      if (!response.headersSent) {
        summarize(response, { written_rows: String(writtenRows), written_bytes: String(writtenBytes) })
        if (!held) response.setHeader('content-length', last?.byteLength ?? 0)
      }
      start(readRows)
      response.end(last ?? undefined)
    },
    onFailed(message) {
      if (!response.headersSent) refuse(response, message)
      else breakOff(response, message, exceptionTag)
    },
  })
  response.once('close', () => {
    if (!response.writableFinished) query.cancel()
  })
}

function summarize(response: ServerResponse, summary: Readonly<Record<string, string>>): void {
  response.setHeader('x-clickhouse-summary', JSON.stringify(summary))
}

function refuse(response: ServerResponse, message: string): void {
  const code = /^Code: (\d+)/.exec(message)?.[1] ?? '1001'
  response.setHeader('x-clickhouse-exception-code', code)
  response.setHeader('content-type', 'text/plain; charset=UTF-8')
  response.writeHead(STATUS_BY_EXCEPTION[code] ?? 500)
  response.end(`${message}\n`)
}

/**
 * Ends an answer that has begun with the error in the frame that ClickHouse uses since 25.11. The body ends properly
 * behind it: breaking the connection could lose the frame with whatever a slow reader has not read yet.
 */
function breakOff(response: ServerResponse, message: string, tag: string): void {
  const text = `${message}\n`
  response.end(`\r\n__exception__\r\n${tag}\r\n${text}${Buffer.byteLength(text)} ${tag}\r\n__exception__\r\n`)
}

function isAuthorized(request: IncomingMessage, passwordDigest: Buffer): boolean {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  const key = request.headers['x-clickhouse-key']
  const given = basic
    ? Buffer.from(basic, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : typeof key === 'string'
      ? key
      : ''
  return timingSafeEqual(digest(given), passwordDigest)
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('error', reject)
    request.once('end', () => {
      const [only] = chunks
      resolve(only && chunks.length === 1 ? only : Buffer.concat(chunks))
    })
  })
}

let statementCount = 0

function fromWireStatement(
  search: URLSearchParams,
  body: Buffer,
  defaultTimeoutSeconds: number,
): EngineStatement {
  const settings: Record<string, string> = { max_execution_time: String(defaultTimeoutSeconds) }
  const parameters: Record<string, string> = {}
  for (const [name, value] of search) {
    if (name.startsWith('param_')) parameters[name.slice('param_'.length)] = value
    else if (!INTERFACE_PARAMETERS.has(name)) settings[name] = value
  }
  const inUrl = search.get('query')
  const id = search.get('query_id') ?? ''
  const isCounted = COUNTED.test(id)
  statementCount++
  return {
    tag: isCounted ? id : `millrace:${process.pid}:${statementCount}`,
    isCounted,
    isWhole: search.get('wait_end_of_query') === '1',
    sql: inUrl ?? body.toString(),
    body: inUrl !== null && body.length > 0 ? body : null,
    format: search.get('default_format') ?? 'TabSeparated',
    database: search.get('database') ?? 'default',
    settings,
    parameters,
  }
}
