import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runMillrace, startMillrace, type RunningMillrace } from './run-millrace.ts'

let directory: string
let service: RunningMillrace
let settings: Record<string, string>
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  service = startMillrace(['serve', '--port', '0', '--data-dir', directory, '--log-level', 'error'], {
    MILLRACE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32',
  })
  const output = await service.outputWith(/Administrator key.*\n/)
  settings = {
    MILLRACE_URL: /listens on (\S+)/.exec(output)?.[1] ?? '',
    MILLRACE_API_KEY: /once: (\S+)/.exec(output)?.[1] ?? '',
  }
})
afterAll(async () => {
  service.process.kill('SIGTERM')
  await service.finished
  await rm(directory, { recursive: true })
})

const millrace = (...args: readonly string[]) => runMillrace(args, settings)

describe('managing a service from the command line', () => {
  it('creates a project, a key for it and a channel, and lists them (AU-2)', async () => {
    expect((await millrace('project', 'create', 'acme/token')).stdout).toBe('Created project acme/token.\n')
    expect((await millrace('project', 'list')).stdout).toMatch(/acme\/token\s+processor\s+false/)

    const key = await millrace('key', 'create', 'reader', '--permission', 'read', '--project', 'acme/token')
    const secret = /^(mr_\S+)\n/.exec(key.stdout)?.[1] ?? ''
    const keys = JSON.parse((await millrace('key', 'list', '--json')).stdout) as {
      id: string
      name: string
    }[]
    const id = keys.find(({ name }) => name === 'reader')?.id ?? ''

    const channel = await millrace('channel', 'create', 'acme/token', 'hook', '--to', 'http://127.0.0.1:9/x')
    expect(channel.stdout).toMatch(/^whsec_\S+\n/)
    expect((await millrace('channel', 'list', 'acme/token')).stdout).toMatch(/hook\s+active\s+http:\/\/127/)

    const letters = await millrace('deadletter', 'acme/token', '--json', '--key', secret)
    expect(JSON.parse(letters.stdout)).toEqual([])
    await millrace('key', 'revoke', id)
    const revoked = await millrace('deadletter', 'acme/token', '--key', secret)
    expect(revoked.code).toBe(1)
    expect(revoked.stderr).toMatch(/status 401[^]*--key or MILLRACE_API_KEY/)
  })

  it("passes on what the service refuses, with the request's id (ER-1)", async () => {
    await millrace('project', 'create', 'acme/twice')
    const again = await millrace('project', 'create', 'acme/twice')
    expect(again.code).toBe(1)
    expect(again.stderr).toMatch(/^error: .*status 409, request /)
    const address = await millrace('channel', 'create', 'acme/twice', 'hook', '--to', 'http://10.0.0.1/')
    expect(address.stderr).toMatch(/10\.0\.0\.1.*status 400/)
  })
})
