import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createEngineServer } from './engine-http.ts'
import { yieldBackgroundWork } from './background-priority.ts'
import type { EngineConfiguration, EngineOrder, EngineReport } from './engine-messages.ts'
import { openEnginePool, type EnginePool } from './engine-pool.ts'

/**
 * Entry of the child process that owns the chDB directory. It lives as long as its IPC channel: when the service dies,
 * however it dies, the channel closes and the directory is set free.
 */

const DRAIN_MS = 10_000
const ABANDONED_MS = 2000

let pool: EnginePool | undefined
let stopListening: (() => void) | undefined
let isStopping = false

function report(message: EngineReport): void {
  process.send?.(message)
}

async function start(configuration: EngineConfiguration): Promise<void> {
  try {
    pool = await openEnginePool(configuration.directory, configuration.poolSize, (error) => {
      report({ kind: 'failed', message: `a session's thread ended: ${error.message}` })
      process.exit(70)
    })
  } catch (error) {
    report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
    process.exit(70)
  }
  yieldBackgroundWork()
  const server = createEngineServer({ ...configuration, pool })
  stopListening = () => {
    server.close()
    server.closeIdleConnections()
  }
  const { socketPath } = configuration
  if (socketPath !== null) {
    // What an engine that was killed has left behind. The directory is this process's own by now.
    await rm(socketPath, { force: true })
    server.listen(socketPath, () => report({ kind: 'listening', port: 0 }))
    return
  }
  server.listen(0, '127.0.0.1', () => {
    report({ kind: 'listening', port: (server.address() as AddressInfo).port })
  })
}

async function stop(drainMs: number): Promise<void> {
  if (isStopping) return
  isStopping = true
  stopListening?.()
  const deadline = performance.now() + drainMs
  const isBusy = (): boolean => (pool?.pending ?? 0) > 0
  while (isBusy() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  // A session must not be closed under a running statement, which aborts the engine; and leaving in order would wait for the statement, with the
  // directory held. Parts on disk are whole either way.
  if (isBusy()) process.kill(process.pid, 'SIGKILL')
  await pool?.close()
  process.exit(0)
}

process.on('message', (order: EngineOrder) => {
  if (order.kind === 'configure') void start(order)
  else void stop(DRAIN_MS)
})
process.on('disconnect', () => {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ABANDONED_MS).unref()
  void stop(ABANDONED_MS / 2)
})
// Ctrl-C in a terminal reaches the whole group; the supervisor decides when the engine stops.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
