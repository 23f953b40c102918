import { mkdtemp, readFile, rm, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startMillrace, type RunningMillrace } from '../cli/run-millrace.ts'
import { freePort } from '../support/free-port.ts'

const ROWS = 6000
const KEY = 'a-key-for-the-import-kill-test-0123456789'

let directory: string
let service: RunningMillrace
let settings: Record<string, string>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-import-kill-'))
  const port = await freePort()
  settings = {
    MILLRACE_PORT: String(port),
    MILLRACE_DATA_DIR: join(directory, 'data'),
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_ENGINE_SESSIONS: '3',
    MILLRACE_URL: `http://127.0.0.1:${port}`,
    MILLRACE_API_KEY: KEY,
  }
  await startService()
  await post('/projects', { owner: 'kill', name: 'import' })
}, 60_000)

afterAll(async () => {
  service.process.kill('SIGKILL')
  await service.finished
  await rm(directory, { recursive: true, force: true })
}, 60_000)

async function startService(): Promise<void> {
  service = startMillrace(['serve'], settings)
  await service.outputWith(/listens on http/)
}

async function post(path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${settings['MILLRACE_URL']}/api/v1${path}`, {
    method: 'POST',
    headers: { 'api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return answer.json()
}

/** Resolves when the state of the import has moved on. */
async function progress(files: string): Promise<void> {
  let before = ''
  for await (const { filename } of watch(files)) {
    if (filename === null || !filename.endsWith('.import')) continue
    const state = await readFile(join(files, filename), 'utf8').catch(() => '')
    if (before !== '' && state !== before) return
    before = state
  }
}

it('has every row once, although importer and service are killed while it runs (IN-2)', async () => {
  const files = await mkdtemp(join(directory, 'files-'))
  const path = join(files, 'rows.ndjson')
  const lines = Array.from({ length: ROWS }, (_, i) =>
    JSON.stringify({
      type: 'event',
      name: 'Row',
      attributes: { i },
      timestampMicros: (1_700_000_000 + i) * 1e6,
    }),
  )
  await writeFile(path, lines.join('\n'))
  const start = () => startMillrace(['import', 'kill/import', path, '--batch-rows', '100'], settings)
  for (let kills = 0; kills < 3; kills++) {
    const importer = start()
    await progress(files)
    importer.process.kill('SIGKILL')
    await importer.finished
  }
  const last = start()
  await progress(files)
  service.process.kill('SIGKILL')
  await service.finished
  await startService()
  const { code, stdout, stderr } = await last.finished
  expect(stderr).toMatch(/^(rows\.ndjson: waiting: .+\n)+$/)
  expect(code).toBe(0)
  expect(stdout).toMatch(/6000 rows imported, \d+ of them before/)
  const sql = 'select count() as n, uniqExact(i) as distinct, min(i) as least, max(i) as most from Row'
  expect(await post('/analytics/kill/import/sql/execute', { sqlQuery: { sql } })).toMatchObject({
    result: { rows: [{ n: ROWS, distinct: ROWS, least: 0, most: ROWS - 1 }] },
  })
}, 180_000)
