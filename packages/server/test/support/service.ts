import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type ConfigOverrides } from '../../src/config.ts'
import { serve } from '../../src/processes/serve.ts'

/** An answer as a client sees it. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any
}

/** A service on loopback with its own data directory. */
export interface TestService {
  readonly url: string
  readonly administratorKey: string
  readonly dataDirectory: string
  /** Sends JSON (or text as it is) below `/api/v1` with the administrator key. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Stops the service and starts it on the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts a service with embedded engines, as `millrace serve` does, in this process. */
export async function startTestService(overrides: ConfigOverrides = {}): Promise<TestService> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'millrace-service-'))
  const administratorKey = 'an-administrator-key-for-tests'
  const config = loadConfig(
    {
      port: 0,
      dataDirectory,
      administratorKey,
      logLevel: 'silent',
      engineSessions: 3,
      webhookAllowedCidrs: '127.0.0.0/8',
      ...overrides,
    },
    {},
  )
  let running = await serve(config)

  async function send(path: string, init: RequestInit): Promise<Answer> {
    const answer = await fetch(`${running.address}/api/v1${path}`, {
      ...init,
      headers: { 'api-key': administratorKey, ...(init.headers as Record<string, string>) },
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }

  return {
    get url() {
      return running.address
    },
    administratorKey,
    dataDirectory,
    post: (path, body, headers = {}) =>
      send(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    get: (path, headers = {}) => send(path, { headers }),
    restart: async () => {
      await running.stop()
      running = await serve(config)
    },
    stop: async () => {
      await running.stop()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}
