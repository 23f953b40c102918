import { spawn } from 'node:child_process'

/** One program of the test command. It passes when it ends with 0. */
export interface Check {
  readonly name: string
  readonly command: string
  readonly arguments: readonly string[]
}

/** A check that did not pass, and everything it printed. */
export interface CheckFailure {
  readonly name: string
  readonly output: string
}

/**
 * Runs checks side by side, `width` at a time, and says of each how long it took. After the first failure none is
 * begun; those under way are ended. Returns that failure, or null.
 */
export async function runChecks(
  checks: readonly Check[],
  width: number,
  say: (line: string) => void,
): Promise<CheckFailure | null> {
  const waiting = [...checks]
  const abort = new AbortController()
  let failure: CheckFailure | null = null
  const lane = async (): Promise<void> => {
    for (let check = waiting.shift(); check && !failure; check = waiting.shift()) {
      const startedAt = performance.now()
      const { isPassed, output } = await run(check, abort.signal)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      // What ended because another failed has nothing to say.
      if (failure) return
      say(`${isPassed ? '✓' : '✗'} ${check.name}  ${seconds} s`)
      if (isPassed) continue
      failure = { name: check.name, output }
      abort.abort()
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  return failure
}

function run(check: Check, signal: AbortSignal): Promise<{ isPassed: boolean; output: string }> {
  const child = spawn(check.command, check.arguments, { signal, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  return new Promise((resolve) => {
    child.on('error', (error) => {
      resolve({ isPassed: false, output: `${output}${error.message}\n` })
    })
    child.on('close', (code) => {
      resolve({ isPassed: code === 0, output })
    })
  })
}
