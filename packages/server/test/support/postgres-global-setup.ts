import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database/database.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'

/** What a test needs to make itself a database: where the server is, and the migrated database to clone. */
export interface PostgresAccess {
  readonly url: string
  readonly template: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Asked once by each test file that needs PostgreSQL; the answer is `PostgresAccess`, or the reason of a failure. */
    postgresBrokerUrl: string
  }
}

/**
 * One PostgreSQL a test run, started when the first test asks for it (it takes about 1.5 s, and most single files do
 * not need it), and stopped at the end.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let access: Promise<PostgresAccess> | undefined
  let server: PostgresServer | undefined
  const template = `millrace_template_${randomBytes(6).toString('hex')}`

  async function start(): Promise<PostgresAccess> {
    const existing = process.env['MILLRACE_TEST_DATABASE_URL']
    if (!existing) server = await startPostgres()
    const url = existing ?? server?.url ?? ''
    await administer(url, `create database ${template}`).catch((error: unknown) => {
      throw new Error(
        `PostgreSQL for tests${existing ? ' (MILLRACE_TEST_DATABASE_URL)' : ''}: ${String(error)}`,
      )
    })
    await openDatabase(databaseUrl(url, template)).then((database) => database.close())
    return { url, template }
  }

  const broker = createServer((_request, response) => {
    access ??= start()
    access.then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => {
        response.statusCode = 500
        response.end(error instanceof Error ? error.message : String(error))
      },
    )
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', () => resolve()))
  project.provide('postgresBrokerUrl', `http://127.0.0.1:${(broker.address() as AddressInfo).port}`)

  return async () => {
    broker.close()
    broker.closeAllConnections()
    const started = await access?.catch(() => undefined)
    if (started && !server) await administer(started.url, `drop database if exists ${template}`)
    await server?.stop()
  }
}

/** Runs one statement on the server's maintenance database. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The server's address with another database in its path. */
export function databaseUrl(url: string, database: string): string {
  const address = new URL(url)
  address.pathname = `/${database}`
  return address.href
}
