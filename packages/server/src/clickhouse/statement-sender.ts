import { Agent, request as requestPlainly, type IncomingMessage } from 'node:http'
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
      const path = `${pathname}?${searchOf(options).toString()}`
      return new Promise((resolve, reject) => {
        const request = (isTls ? requestOverTls : requestPlainly)(
          { ...target, path, headers, signal },
          resolve,
        )
        request.on('error', reject)
        request.end(sql)
      })
    },
    close: () => {
      agent.destroy()
    },
  }
}

function searchOf({ settings, parameters = {}, queryId }: Omit<SentOptions, 'signal'>): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(settings)) search.set(name, String(value))
  for (const [name, value] of Object.entries(parameters)) search.set(`param_${name}`, writeParameter(value))
  if (queryId !== undefined) search.set('query_id', queryId)
  return search
}

function authorizationOf({ username, password }: FactLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
