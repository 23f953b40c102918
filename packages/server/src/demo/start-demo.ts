import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DemoCommand, DemoInput, DemoReport } from './demo-messages.ts'

interface DemoOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly project: string
  readonly input: DemoInput
  readonly receiverPort: number
  /** Gives the channels the receiver's address, and returns the secret it verifies with. */
  onListening(port: number): Promise<string>
  onReport(report: Exclude<DemoReport, { kind: 'listening' }>): void
}

export interface Demo {
  stop(): Promise<void>
}

const STOP_TIMEOUT_MS = 3000
const MOST_RESTARTS = 5

/**
 * Starts the demo's process, and starts it again a few times when it dies: it resumes where the service's data ends. A
 * fault that it names is final.
 */
export function startDemo(options: DemoOptions): Demo {
  let isStopping = false
  let restarts = 0
  let child = launch()

  function launch(): ChildProcess {
    const { NODE_OPTIONS: _, ...environment } = process.env
    const launched = fork(fileURLToPath(new URL('demo-process.ts', import.meta.url)), {
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const { baseUrl, apiKey, project, input, receiverPort } = options
    let isFaulty = false
    tell(launched, { kind: 'start', baseUrl, apiKey, project, input, receiverPort })
    launched.on('message', (message) => {
      const report = message as DemoReport
      if (report.kind === 'fault') isFaulty = true
      if (report.kind !== 'listening') {
        options.onReport(report)
        return
      }
      introduce(launched, report.port).catch((error: unknown) => {
        isFaulty = true
        options.onReport({ kind: 'fault', message: error instanceof Error ? error.message : String(error) })
        launched.kill('SIGKILL')
      })
    })
    launched.on('exit', () => {
      if (isStopping || isFaulty || ++restarts > MOST_RESTARTS) return
      options.onReport({
        kind: 'line',
        source: 'processor',
        text: 'the demo ended unexpectedly; starting it again',
      })
      child = launch()
    })
    return launched
  }

  async function introduce(launched: ChildProcess, port: number): Promise<void> {
    tell(launched, { kind: 'secret', secret: await options.onListening(port) })
    tell(launched, { kind: 'go' })
  }

  return {
    async stop() {
      isStopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise<void>((resolve) => {
        child.once('exit', () => resolve())
      })
      tell(child, { kind: 'stop' })
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

function tell(child: ChildProcess, command: DemoCommand): void {
  // A child that is gone is noticed by its exit.
  if (child.connected) child.send(command, () => undefined)
}
