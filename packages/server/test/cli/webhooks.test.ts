import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let receiver: Receiver
beforeAll(async () => {
  service = await startTestService()
  receiver = await startReceiver()
  await service.post('/projects', { owner: 'acme', name: 'dex' })
})
afterAll(async () => {
  await receiver.close()
  await service.stop()
})

/** Runs a command in this process; a process of its own for each would take most of the time. */
async function millrace(...args: readonly string[]) {
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const code = await runCli([...args, '--url', service.url, '--key', service.administratorKey])
    const text = (spy: typeof stdout) => spy.mock.calls.map(([part]) => String(part)).join('')
    process.exitCode = undefined
    return { code, stdout: text(stdout), stderr: text(stderr) }
  } finally {
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

const record = (block: number) =>
  `{"type":"export","name":"swap","channel":"hook","chain":"1","blockNumber":${block},"timestampMicros":1,"data":${block}}`

describe('operating webhooks from the command line', () => {
  it('creates, tests, edits, pauses, resumes, rotates and shows a channel (DL-12, DL-1)', async () => {
    const made = await millrace(
      'channel',
      'create',
      'acme/dex',
      'hook',
      '--to',
      receiver.url,
      '--header',
      'x-a: 1',
    )
    expect(made.stdout).toMatch(/^whsec_\S+\n/)
    expect((await millrace('channel', 'test', 'acme/dex', 'hook')).stdout).toMatch(
      /^acknowledged in \d+ ms: the endpoint answered 200/,
    )
    expect(receiver.calls.at(-1)?.text).toContain('"export_name":"millrace_test"')
    const edited = await millrace(
      'channel',
      'edit',
      'acme/dex',
      'hook',
      '--requests-per-second',
      '50',
      '--requests-at-once',
      '4',
      '--confirmations',
      '2',
      '--retract',
      '--backoff-initial-ms',
      '100',
      '--alert-channel',
      'ops',
      '--json',
    )
    expect(edited.stderr).toContain('warning: alertChannel: channel "ops" does not exist yet')
    expect(edited.stderr).toContain('warning: requestsAtOnce: a channel with requestsPerSecond has one')
    expect(JSON.parse(edited.stdout)).toMatchObject({
      requestsPerSecond: 50,
      requestsAtOnce: 4,
      confirmations: 2,
      retract: true,
      backoff: { initialMs: 100, capMs: 3_600_000 },
      alertChannel: 'ops',
      successRate: 1,
    })
    expect((await millrace('channel', 'pause', 'acme/dex', 'hook')).stdout).toMatch(
      /is paused; waiting: 0 messages\./,
    )
    expect((await millrace('channel', 'resume', 'acme/dex', 'hook')).stdout).toMatch(/is active/)
    const above = await millrace('channel', 'edit', 'acme/dex', 'hook', '--requests-at-once', '17')
    expect(above).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/requestsAtOnce must be from 1 to 16/) as string,
    })
    const rotated = await millrace('channel', 'rotate-secret', 'acme/dex', 'hook', '--overlap-seconds', '60')
    expect(rotated.stdout).toMatch(/^whsec_\S+\n/)
    expect(rotated.stdout.split('\n')[0]).not.toBe(made.stdout.split('\n')[0])
    const again = await millrace('channel', 'rotate-secret', 'acme/dex', 'hook', '--overlap-seconds', '60')
    expect(again.stderr).toMatch(
      /^warning: the secret before the last one was to sign until 20\S+Z, and ended now/,
    )
    const path = '/webhook/channels/acme/dex/hook/secret'
    expect((await service.post(path, { overlapSecond: 0 })).body.warnings[0]).toBe(
      'overlapSecond is not known and was left out; did you mean overlapSeconds?',
    )
    const shown = (await millrace('channel', 'show', 'acme/dex', 'hook')).stdout
    for (const fact of [
      /^confirmations +2$/m,
      /^requestsAtOnce +4$/m,
      /^backoff\.capMs +3600000$/m,
      /^headers\.x-a +1$/m,
    ]) {
      expect(shown).toMatch(fact)
    }
    expect(shown).toMatch(/^successRate +100 %$/m)
    await millrace('channel', 'edit', 'acme/dex', 'hook', '--no-headers')
    await millrace('channel', 'rotate-secret', 'acme/dex', 'hook', '--overlap-seconds', '0')
    const bare = (await millrace('channel', 'show', 'acme/dex', 'hook')).stdout
    expect(bare).toMatch(/^headers$/m)
    expect(bare).toMatch(/^previousSecretUntil$/m)
    const attempts = await millrace('channel', 'attempts', 'acme/dex', 'hook', '--outcome', 'acknowledged')
    expect(attempts.stdout).toMatch(/acknowledged\s+200\s+1/)
    await millrace('channel', 'edit', 'acme/dex', 'hook', '--confirmations', '0')
  })

  it('lists, redrives and dismisses dead letters (DD-4)', async () => {
    await millrace(
      'channel',
      'edit',
      'acme/dex',
      'hook',
      '--dead-letter-age-ms',
      '0',
      '--dead-letter-attempts',
      '1',
    )
    receiver.answer = 500
    await service.post('/ingest/acme/dex/batch', record(1), { 'content-type': 'application/x-ndjson' })
    const listed = async () =>
      JSON.parse((await millrace('deadletter', 'list', 'acme/dex', 'hook', '--json')).stdout) as {
        id: string
      }[]
    await expect.poll(listed, { timeout: 20_000 }).toHaveLength(1)
    expect((await millrace('deadletter', 'acme/dex')).stdout).toMatch(/hook\s+1\s+1\s+500/)
    receiver.answer = 200
    const before = receiver.calls.length
    expect((await millrace('channel', 'resume', 'acme/dex', 'hook')).code).toBe(0)
    expect((await millrace('deadletter', 'redrive', 'acme/dex', '--channel', 'hook')).stdout).toBe(
      '1 letter will be sent again.\n',
    )
    await receiver.received(before + 1)
    expect(receiver.calls.at(-1)?.text).toContain('"data":1}')
    expect(await listed()).toEqual([])
    expect((await millrace('deadletter', 'dismiss', 'acme/dex', '--all')).stdout).toBe(
      '0 letters dismissed.\n',
    )
    expect((await millrace('deadletter', 'dismiss', 'acme/dex')).code).toBe(2)
    expect(await millrace('deadletter', 'redrive', 'acme/dex', '--channel', 'hok')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('channel "hok" does not exist') as string,
    })
  })
})
