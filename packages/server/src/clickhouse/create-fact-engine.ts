import { Agent } from 'node:http'
import { Readable } from 'node:stream'
import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { asBuffer } from '../platform/as-buffer.ts'
import { cancellation, ServiceError } from '../platform/errors.ts'
import { createExceptionFrame } from './exception-frame.ts'
import type { FactEngine, Insert, StatementOptions } from './fact-engine.ts'
import { quoteIdentifier, quoteString } from './layout.ts'
import { createStatementSender, type StatementSender } from './statement-sender.ts'
import { isBrokenConnection, translateError } from './translate-error.ts'

/** Where an engine answers. */
export interface FactEngineAddress {
  readonly url: string
  readonly username: string
  readonly password: string
  /** A socket of this machine, instead of the address's host and port. */
  readonly socketPath?: string
}

/** A server's fixed address, or the embedded engine's present one, which may have to be waited for. */
export type FactEngineSource = FactEngineAddress | ((waitMs: number) => Promise<FactEngineAddress>)

interface Connection {
  readonly address: FactEngineAddress
  readonly client: ClickHouseClient
  readonly sender: StatementSender
}

interface FactEngineOptions {
  /** How long a statement waits for an engine that is starting again. */
  readonly waitMs?: number
  /** Connections at a time; the engine's own queue is behind them. */
  readonly maxConnections?: number
}

const DEFAULT_WAIT_MS = 5000
const DEFAULT_CONNECTIONS = 64
const DEFAULT_TIMEOUT_MS = 60_000
// The engine ends a statement by itself; this is for an engine that no longer does.
const GRACE_MS = 10_000
const LONGEST_REQUEST_MS = 2 ** 31 - 1
/**
 * An answer whose length was known before its first byte is whole, and no exception's frame is in it: a short one is read at once, without the streams in
 * between, which take a tenth of a millisecond.
 */
const SHORT_BYTES_MAX = 2 ** 16

// Numbers beyond a double's 53 bits come as text, and what JSON has no number for as null, so no digit is lost (SQ-4).
const LOSSLESS_JSON = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 0,
} as const

/** The engine at `source`; embedded and server take the same path. Rows to insert go through the official client. */
export function createFactEngine(source: FactEngineSource, options: FactEngineOptions = {}): FactEngine {
  const waitMs = options.waitMs ?? DEFAULT_WAIT_MS
  let connected: Connection | null = null

  async function connect(): Promise<Connection> {
    const address = typeof source === 'function' ? await source(waitMs) : source
    // An engine that was started again has another password, if not another port.
    if (connected?.address.url !== address.url || connected.address.password !== address.password) {
      void connected?.client.close()
      connected?.sender.close()
      const { socketPath } = address
      const maxSockets = options.maxConnections ?? DEFAULT_CONNECTIONS
      const client = createClient({
        url: address.url,
        username: address.username,
        password: address.password,
        request_timeout: LONGEST_REQUEST_MS,
        max_open_connections: maxSockets,
        ...(socketPath === undefined ? {} : { http_agent: socketAgent(socketPath, maxSockets) }),
        log: { LoggerClass: SilentLogger },
      })
      connected = { address, client, sender: createStatementSender(address, maxSockets) }
    }
    return connected
  }

  async function execute(sql: string, format: string | null, options: StatementOptions): Promise<Readable> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options
    if (signal?.aborted) throw cancellation(signal)
    const deadline = AbortSignal.timeout(timeoutMs + GRACE_MS)
    const stop = signal ? AbortSignal.any([signal, deadline]) : deadline
    const settings: Record<string, string | number> = {
      ...options.settings,
      max_execution_time: timeoutMs / 1000,
      // Not as a clause of the statement: the embedded engine has to know it to join the chunks of a result.
      ...(format === null ? {} : { default_format: format }),
      ...(options.database === undefined ? {} : { database: options.database }),
    }
    const { sender } = await connect()
    const { parameters, queryId, login } = options
    const answer = await sender.send(sql, { settings, parameters, queryId, login, signal: stop })
    if ((answer.statusCode ?? 0) >= 400) throw new Error(await readText(answer))
    const summary = answer.headers['x-clickhouse-summary']
    if (typeof summary === 'string') options.onRowsRead?.(readRows(summary))
    const length = Number(answer.headers['content-length'] ?? Infinity)
    if (length <= SHORT_BYTES_MAX) return streamOf(await readBytes(answer))
    const tag = answer.headers['x-clickhouse-exception-tag']
    return follow(answer, typeof tag === 'string' ? tag : '', stop, signal)
  }

  return {
    rows: <Row>(sql: string, options: StatementOptions = {}) =>
      read(async () => {
        const settings = { ...LOSSLESS_JSON, ...options.settings }
        const text = await readText(await execute(sql, 'JSONEachRow', { ...options, settings }))
        return text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Row)
      }, options.signal),

    stream: (sql, format, options = {}) => read(() => execute(sql, format, options), options.signal),

    async command(sql, options = {}) {
      try {
        await readText(await execute(sql, null, options))
      } catch (error) {
        throw translateError(error, options.signal)
      }
    },

    async insert(insert, options = {}) {
      const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options
      const attempt = async (): Promise<void> => {
        const stop = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeoutMs + GRACE_MS)])
        const { client } = await connect()
        const { stream, http_status_code } = await client.exec({
          query: insertStatement(insert),
          values: Readable.from([asBuffer(insert.rows)], { objectMode: false }),
          clickhouse_settings: {
            max_execution_time: timeoutMs / 1000,
          },
          abort_signal: stop,
          ignore_error_response: true,
        })
        const answer = await readText(stream)
        if (http_status_code !== undefined && http_status_code >= 400) throw new Error(answer)
      }
      // With a token a second insert of the same bytes changes nothing; without one it might double them.
      if (insert.deduplicationToken !== undefined) await read(attempt, signal)
      else await attempt().catch((error: unknown) => Promise.reject(translateError(error, signal)))
    },

    async ping() {
      const { client } = await connect()
      const result = await client.ping({ select: true })
      if (!result.success) throw translateError(result.error)
    },

    async close() {
      connected?.sender.close()
      await connected?.client.close()
      connected = null
    },
  }
}

/** Connections to a socket of this machine: an agent hands its options on to each of them, which its type does not say. */
function socketAgent(socketPath: string, maxSockets: number): Agent {
  const options = { keepAlive: true, maxSockets, socketPath }
  return new Agent(options)
}

/** Runs a read again, once, when the connection broke under it. */
async function read<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    if (signal?.aborted || !(isBrokenConnection(error) || isBroken(error)))
      throw translateError(error, signal)
  }
  try {
    return await attempt()
  } catch (error) {
    throw translateError(error, signal)
  }
}

function insertStatement(insert: Insert): string {
  const columns = insert.columns ? ` (${insert.columns.map(quoteIdentifier).join(', ')})` : ''
  // In the statement, not beside it: the embedded engine's sessions keep what stands beside one, and would be told of each token.
  const token =
    insert.deduplicationToken === undefined
      ? ''
      : `, insert_deduplication_token = ${quoteString(insert.deduplicationToken)}, insert_deduplicate = 1`
  // Servers since 26 gather inserts for a while by themselves, which makes a group of batches, gathered here, wait once more.
  const settings = ` settings async_insert = 0${token}`
  return `insert into ${quoteIdentifier(insert.database)}.${quoteIdentifier(insert.table)}${columns}${settings} format ${insert.format}`
}

/** The result behind its exception frame, stopped with the signal, and with every failure translated. */
function follow(source: Readable, tag: string, stop: AbortSignal, signal: AbortSignal | undefined): Readable {
  const frame = createExceptionFrame(tag === '' ? 'none' : tag)
  const abort = (): void => {
    const error = signal?.aborted
      ? cancellation(signal)
      : new ServiceError('deadline_exceeded', 'the fact engine did not answer in time')
    frame.destroy(error)
  }
  stop.addEventListener('abort', abort, { once: true })
  source.once('error', (error) => {
    frame.destroy(translateError(error, signal))
  })
  frame.once('close', () => {
    stop.removeEventListener('abort', abort)
    source.destroy()
  })
  // Whoever reads hears of it too; a stream that nobody reads yet must not end the process.
  frame.on('error', () => undefined)
  source.pipe(frame)
  if (stop.aborted) abort()
  return frame
}

function readRows(summary: string): number {
  return Number((JSON.parse(summary) as { read_rows?: string }).read_rows ?? 0)
}

function readBytes(source: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    source.on('data', (chunk: Buffer) => void chunks.push(chunk))
    source.once('end', () => {
      resolve(Buffer.concat(chunks))
    })
    source.once('error', reject)
    source.once('close', () => {
      reject(new Error('the answer ended before its last byte'))
    })
  })
}

function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({ read: () => undefined })
  stream.push(bytes)
  stream.push(null)
  return stream
}

async function readText(source: Readable): Promise<string> {
  return String(await readBytes(source))
}

function isBroken(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'unavailable' && isBrokenConnection(error.cause)
}

// Every failure is thrown, translated and logged once, where it is handled.
class SilentLogger {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}
