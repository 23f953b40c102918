import type { DemoCommand, DemoReport } from './demo-messages.ts'
import { receiveWebhooks, type Receiver } from './receive-webhooks.ts'
import { runProcessor } from './run-processor.ts'

// The demo's own process: a receiver of webhooks and a processor, both ordinary clients of the service.
const controller = new AbortController()
let secret: string | null = null
let receiver: Receiver | null = null
let start: Extract<DemoCommand, { kind: 'start' }> | null = null

function report(message: DemoReport): void {
  if (process.connected) process.send?.(message)
}

async function obey(command: DemoCommand): Promise<void> {
  switch (command.kind) {
    case 'start':
      start = command
      receiver = await receiveWebhooks({
        port: command.receiverPort,
        secret: () => secret,
        say: (text) => report({ kind: 'line', source: 'webhook', text }),
      })
      report({ kind: 'listening', port: receiver.port })
      break
    case 'secret':
      secret = command.secret
      break
    case 'go':
      if (start !== null) await runProcessor(start, report, controller.signal)
      break
    case 'stop':
      controller.abort()
      await receiver?.stop()
      process.disconnect()
      break
  }
}

process.on('message', (command) => {
  obey(command as DemoCommand).catch((error: unknown) => {
    if (controller.signal.aborted) return
    report({ kind: 'fault', message: error instanceof Error ? error.message : String(error) })
    process.exitCode = 1
    process.disconnect()
  })
})
// Ctrl-C reaches every process of the terminal; this one ends when the service says so, or is gone.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
process.on('disconnect', () => process.exit())
