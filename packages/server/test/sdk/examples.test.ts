import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../house/sources.ts'
import { freePort } from '../support/free-port.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let directory: string
const started: ChildProcess[] = []

beforeAll(async () => {
  service = await startTestService()
  directory = await mkdtemp(join(tmpdir(), 'millrace-examples-'))
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(async () => {
  for (const child of started) child.kill()
  await service.stop()
  await rm(directory, { recursive: true })
})

/** Starts an example in an empty directory, as its first lines say. */
function start(example: string, settings: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'examples', example)], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      MILLRACE_URL: service.url,
      MILLRACE_API_KEY: service.administratorKey,
      MILLRACE_PROJECT: 'test/p',
      ...settings,
    },
  })
  started.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const finished = once(child, 'close')
  return {
    output: async () => {
      await finished
      return output
    },
    until: async (pattern: RegExp) => {
      while (!pattern.test(output)) {
        const isOver = await Promise.race([once(child.stdout, 'data').then(() => false), finished])
        if (isOver !== false && !pattern.test(output)) throw new Error(`ended before ${pattern}:\n${output}`)
      }
    },
  }
}

describe('the examples', () => {
  it('send, query and receive what they say', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/`
    const { body: channel } = await service.post('/webhook/channels/test/p', { name: 'example', url })
    const receiver = start('webhook-receiver.ts', { PORT: String(port), WEBHOOK_SECRET: channel.secret })
    await receiver.until(/127\.0\.0\.1/)
    expect(await start('processor.ts').output()).toBe('10 blocks sent\n')
    const lines = (await start('query.ts').output()).trim().split('\n')
    expect(lines.at(-1)).toBe('10 transfers')
    expect(lines.at(-2)).toMatch(/^\d{4}-.*Z 10$/)
    await receiver.until(/^2 events$/m)
    const { body } = await service.post('/analytics/test/p/sql/execute', {
      sqlQuery: { sql: "select balance from ExampleAccount where id = 'bob'" },
    })
    expect(body.result.rows).toEqual([{ balance: String(55n * 10n ** 18n) }])
  })
})
