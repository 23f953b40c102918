import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSecret } from '../../src/projects/secret.ts'
import { runMillrace, startMillrace, type RunningMillrace } from './run-millrace.ts'

const LAST_COMMAND = /4\. .*\ncurl .*\n/
let directory: string
const running: RunningMillrace[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-start-'))
})
afterAll(async () => {
  for (const each of running) each.process.kill('SIGKILL')
  await Promise.all(running.map(({ finished }) => finished))
  await rm(directory, { recursive: true })
})

function start(name: string, ...more: readonly string[]): RunningMillrace {
  const args = ['start', '--port', '0', '--receiver-port', '0', '--data-dir', join(directory, name), ...more]
  const started = startMillrace(args)
  running.push(started)
  return started
}

/** What a printed curl command asks for, and the answer to it. */
async function paste(command: string): Promise<Record<string, unknown>> {
  const [, url = '', key = '', body] =
    /^curl -s '([^']+)' -H 'api-key: ([^']+)'(?: -H 'Content-Type: application\/json' -d '(.*)')?$/.exec(
      command,
    ) ?? []
  const answer = await fetch(url, {
    headers: { 'api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body }),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, unknown>
}

const commandsIn = (output: string) => output.split('\n').filter((line) => line.startsWith('curl '))

function clientOf(output: string) {
  const [, baseUrl = '', apiKey = ''] =
    /curl -s '(http:\/\/[^/]+)\S+ -H 'api-key: ([^']+)'/.exec(output) ?? []
  return createClient({ baseUrl, apiKey })
}

describe('millrace start', () => {
  it(
    'prints four commands that answer with rows, stops in order, and goes on at the second start without doubling',
    { timeout: 240_000 },
    async () => {
      const first = start('twice')
      const output = await first.outputWith(LAST_COMMAND)
      expect(output).toMatch(/Administrator key, shown this once:\n {2}mr_\S+/)
      expect((await stat(join(directory, 'twice', 'demo.json'))).mode & 0o777).toBe(0o600)

      const commands = commandsIn(output)
      expect(commands.length).toBe(4)
      const [range, sql, next, letters] = await Promise.all(commands.map(paste))
      const { results } = range as { results: { matrix: { samples: { values: unknown[] }[] } }[] }
      for (const { matrix } of results) {
        // 30 days of hours, in a zone whose clock may change meanwhile.
        expect(matrix.samples[0]?.values.length).toBeGreaterThanOrEqual(719)
      }
      const { result } = sql as { result: { rows: { timestamp: string }[] } }
      expect(result.rows.length).toBe(5)
      const { result: page } = next as { result: { rows: { timestamp: string }[] } }
      expect(page.rows.length).toBe(5)
      for (const { timestamp } of [...result.rows, ...page.rows]) expect(timestamp).toMatch(/^20\d\d-.*Z$/)
      expect((page.rows[0]?.timestamp ?? '') <= (result.rows[4]?.timestamp ?? '')).toBe(true)
      const { messages } = letters as { messages: { attributes: { channel_name: string } }[] }
      expect(messages[0]?.attributes.channel_name).toBe('demo-refused')
      expect(output).toMatch(/\[webhook\] received \d+ messages/)

      // Blocks older than any reorganisation that is still to come.
      const counted =
        'select count() as rows, count(distinct block_number) as blocks from Transfer where timestamp < now() - 1200'
      const before = await clientOf(output).executeSql('demo/erc20', { sql: counted })
      first.process.kill('SIGINT')
      const stopped = await first.finished
      expect(stopped.code).toBe(0)
      expect(stopped.stdout).toMatch(/Stopped\.\n$/)

      const second = start('twice')
      const again = await second.outputWith(LAST_COMMAND)
      expect(again).not.toMatch(/Administrator key/)
      const after = await clientOf(again).executeSql('demo/erc20', {
        sql: counted,
        cachePolicy: { noCache: true },
      })
      const grown = Number(after.result.rows[0]?.['rows']) - Number(before.result.rows[0]?.['rows'])
      expect(grown).toBeGreaterThanOrEqual(0)
      expect(grown).toBeLessThan(100)
      second.process.kill('SIGINT')
      expect((await second.finished).code).toBe(0)
    },
  )

  it(
    'has every transfer once after it was killed amid the history and started again (IN-2)',
    { timeout: 240_000 },
    async () => {
      const first = start('killed')
      await first.outputWith(/\[webhook\] received/)
      first.process.kill('SIGKILL')
      await first.finished

      const second = start('killed')
      const client = clientOf(await second.outputWith(LAST_COMMAND))
      const sql = 'select count() as rows, count(distinct block_number, log_index) as places from Transfer'
      const { result } = await client.executeSql('demo/erc20', { sql })
      const { rows, places } = result.rows[0] ?? {}
      expect(Number(rows)).toBeGreaterThan(20_000)
      expect(places).toBe(rows)
      const { results } = await client.queryRange('demo/erc20', {
        queries: [{ query: 'transfer_total', aggregate: { op: 'SUM' } }],
        timeRange: { start: 'now', end: 'now', step: 1 },
      })
      // The chain lives on between the two answers.
      const counted = results[0]?.matrix?.samples[0]?.values[0]?.value ?? 0
      expect(Math.abs(counted - Number(rows))).toBeLessThan(20)
      second.process.kill('SIGINT')
      expect((await second.finished).code).toBe(0)
    },
  )

  it('names the process that holds the data directory at a second start beside the first', async () => {
    const first = start('held', '--no-demo')
    await first.outputWith(/Ctrl-C/)
    const second = await runMillrace([
      'start',
      '--no-demo',
      '--port',
      '0',
      '--data-dir',
      join(directory, 'held'),
    ])
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(new RegExp(`in use by process ${first.process.pid}`))
    first.process.kill('SIGTERM')
    expect((await first.finished).code).toBe(0)
  })

  it('refuses an administrator key that was cut off before it makes anything (AU-4)', async () => {
    const dataDirectory = join(directory, 'cut-off')
    const { code, stderr } = await runMillrace(
      ['start', '--no-demo', '--port', '0', '--data-dir', dataDirectory],
      { MILLRACE_ADMIN_KEY: createSecret().slice(0, -1) },
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/error: MILLRACE_ADMIN_KEY must have 24 characters or more/)
    await expect(stat(dataDirectory)).rejects.toThrow('ENOENT')
  })

  it('keeps the administrator key for the start that succeeds when a port is in use (AU-4)', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const refused = await start('port', '--no-demo', '--port', String(port)).finished
    other.close()
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(new RegExp(`cannot listen on 127.0.0.1:${port}: another program`))

    const second = start('port', '--no-demo')
    expect(await second.outputWith(/Ctrl-C/)).toMatch(/Administrator key, shown this once:\n {2}mr_\S+/)
    second.process.kill('SIGTERM')
    expect((await second.finished).code).toBe(0)
  })
})
