import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const RESTART_MS = 100

/** A process that is started again whenever it was killed. */
export interface KillableProcess {
  /** The one that runs now. */
  current(): Promise<ChildProcess>
  /** Ends it with the signal and starts the next. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  end(): Promise<void>
}

/** Runs a module beside this one. */
export function startKillable(module: string, args: readonly string[]): KillableProcess {
  const path = fileURLToPath(new URL(module, import.meta.url))
  let child = start()

  /** One that ends before it has started, because the database is just recovering, is started again, as by a supervisor. */
  async function start(): Promise<ChildProcess> {
    for (;;) {
      const started = fork(path, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
      const hasStarted = await Promise.race([
        once(started, 'message').then(() => true),
        once(started, 'exit').then(() => false),
      ])
      if (hasStarted) return started
      await pause(RESTART_MS)
    }
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    const running = await child
    if (running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill(signal)
    await exited
  }

  return {
    current: () => child,
    async restart(signal) {
      await stop(signal)
      child = start()
      await child
    },
    end: () => stop('SIGKILL'),
  }
}
