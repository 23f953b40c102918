import { Agent, request as requestPlainly, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as requestOverTls } from 'node:https'
import type { FactEngineAddress } from './create-fact-engine.ts'
import type { FactLogin } from './fact-engine.ts'
import { writeParameter } from './write-parameter.ts'

/** What is sent beside a statement's text. */
export interface SentOptions {
  readonly settings: Readonly<Record<string, string | number>>
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  readonly queryId?: string | undefined
  readonly login?: FactLogin | undefined
  readonly signal: AbortSignal
}

/** Sends statements whose answers are read as they come, over connections that stay open. */
export interface StatementSender {
  /** Resolves when the answer begins, whatever its status. Rejects when the connection breaks, and when the signal is aborted. */
  send(sql: string, options: SentOptions): Promise<IncomingMessage>
  close(): void
}

/**
 * ClickHouse's HTTP interface without the official client in between, whose streams and checks take as much again: 1.2 ms of computing a
 * statement against 0.6 (measured with 1.23).
 */
export function createStatementSender(address: FactEngineAddress, maxSockets: number): StatementSender {
  const { protocol, hostname, port, pathname } = new URL(address.url)
  const { socketPath } = address
  const isTls = protocol === 'https:'
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, maxSockets })
  const own = authorizationOf(address)
  const target = {
    method: 'POST',
    agent,
    ...(socketPath === undefined ? { host: hostname, ...(port === '' ? {} : { port }) } : { socketPath }),
  }

  return {
    send: (sql, { login, signal, ...options }) => {
      const headers = { authorization: login ? authorizationOf(login) : own }
      const path = `${pathname}?${searchOf(options)}`
      return new Promise((resolve, reject) => {
        const request = (isTls ? requestOverTls : requestPlainly)({ ...target, path, headers }, resolve)
        request.on('error', reject)
        endWith(signal, request)
        request.end(sql)
      })
    },
    close: () => {
      agent.destroy()
    },
  }
}

/** Breaks the connection when the signal comes before the end of the answer. The request's own option for it takes a tenth of a millisecond. */
function endWith(signal: AbortSignal, request: ClientRequest): void {
  const end = (): void => {
    request.destroy(new Error('the request was aborted', { cause: signal.reason }))
  }
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  request.once('close', () => {
    signal.removeEventListener('abort', end)
  })
}

function searchOf({ settings, parameters = {}, queryId }: Omit<SentOptions, 'signal'>): string {
  const pairs = Object.entries(settings).map(([name, value]) => pairOf(name, String(value)))
  for (const [name, value] of Object.entries(parameters)) {
    pairs.push(pairOf(`param_${name}`, writeParameter(value)))
  }
  if (queryId !== undefined) pairs.push(pairOf('query_id', queryId))
  return pairs.join('&')
}

function pairOf(name: string, value: string): string {
  return `${inAddress(name)}=${inAddress(value)}`
}

/** Most of it needs nothing, as the names and values of settings. */
function inAddress(text: string): string {
  return /^\w*$/.test(text) ? text : encodeURIComponent(text.toWellFormed())
}

function authorizationOf({ username, password }: FactLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
