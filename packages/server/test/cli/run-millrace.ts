import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** What a command left behind. */
export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A `millrace` that runs in a process of its own. */
export interface RunningMillrace {
  readonly process: ChildProcess
  /** Resolves with its output so far as soon as `pattern` is in it; rejects when it ends before. */
  outputWith(pattern: RegExp): Promise<string>
  readonly finished: Promise<Finished>
}

/** Starts `millrace` with an environment of its own: nothing of the tests' settings reaches it. */
export function startMillrace(
  args: readonly string[],
  settings: Record<string, string> = {},
): RunningMillrace {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const finished = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }))
  return {
    process: child,
    finished,
    async outputWith(pattern) {
      const isFinished = finished.then(() => true)
      while (!pattern.test(stdout)) {
        const next = once(child.stdout, 'data').then(() => false)
        if ((await Promise.race([next, isFinished])) && !pattern.test(stdout)) {
          throw new Error(`ended before ${pattern}:\n${stdout}\n${stderr}`)
        }
      }
      return stdout
    },
  }
}

/** Runs a command to its end. */
export async function runMillrace(
  args: readonly string[],
  settings: Record<string, string> = {},
): Promise<Finished> {
  return startMillrace(args, settings).finished
}
