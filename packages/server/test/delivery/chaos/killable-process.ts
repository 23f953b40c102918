import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

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

  async function start(): Promise<ChildProcess> {
    const started = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(started, 'message')
    return started
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
