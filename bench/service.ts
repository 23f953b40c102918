import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../packages/server/test/support/free-port.ts'

const START_TIMEOUT_MS = 60_000
const KEY = 'bench-administrator-key-of-a-temporary-service'

/** A service under measurement. */
export interface Service {
  readonly url: string
  readonly key: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts the service on a temporary directory and a free port; `stop` ends it and removes the directory. Data in a `dataDirectory` of
 * the caller's stay. `environment` is set beside what every measurement needs.
 */
export async function startService(
  dataDirectory?: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const port = await freePort()
  const logFile = join(directory, 'service.log')
  const log = createWriteStream(logFile)
  await once(log, 'open')
  const child = spawn(
    process.execPath,
    [join(dirname(import.meta.dirname), 'packages', 'server', 'src', 'main.ts'), 'serve'],
    {
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        MILLRACE_HOST: '127.0.0.1',
        MILLRACE_PORT: String(port),
        MILLRACE_DATA_DIR: dataDirectory ?? join(directory, 'data'),
        MILLRACE_ADMIN_KEY: KEY,
        MILLRACE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        MILLRACE_LOG_LEVEL: 'warn',
        ...environment,
      },
    },
  )
  const closed = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await closed
    rmSync(directory, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      const output = readFileSync(logFile, 'utf8').slice(-4000)
      await stop()
      throw new Error(`the service did not start:\n${output}`)
    }
    await sleep(100)
  }
  return { url, key: KEY, pid: child.pid ?? 0, stop }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}
