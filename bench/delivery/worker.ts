import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Outgoing } from './contender.ts'

/** A contender's worker in a process of its own. */
export interface WorkerProcess {
  /** Puts messages in through this process. */
  enqueue(messages: readonly Outgoing[]): Promise<void>
  /** Resident memory and processor time so far. */
  usage(): Promise<{ readonly rssBytes: number; readonly cpuSeconds: number }>
  /** An orderly stop. */
  stop(): Promise<void>
  /** Ends it without warning. */
  kill(): Promise<void>
}

type Answer =
  | { readonly usage: { readonly rssBytes: number; readonly cpu: NodeJS.CpuUsage } }
  | { readonly id: number; readonly isStored: boolean }

/** Starts it; resolves when it takes messages. Options of Node, e.g. for a profile, come from `MILLRACE_BENCH_NODE_OPTIONS`. */
export async function startWorker(
  contender: string,
  location: string,
  urls: readonly string[],
): Promise<WorkerProcess> {
  const options = (process.env['MILLRACE_BENCH_NODE_OPTIONS'] ?? '').split(' ')
  const child = fork(fileURLToPath(new URL('worker-process.ts', import.meta.url)), [contender, location], {
    execArgv: options.filter((option) => option !== ''),
  })
  await once(child, 'message')
  child.send(urls)
  await once(child, 'message')
  const enqueuing = new Map<number, PromiseWithResolvers<void>>()
  const askers: ((answer: { readonly rssBytes: number; readonly cpuSeconds: number }) => void)[] = []
  let orders = 0
  child.on('message', (answer: Answer) => {
    if ('usage' in answer) {
      const { rssBytes, cpu } = answer.usage
      askers.shift()?.({ rssBytes, cpuSeconds: (cpu.user + cpu.system) / 1e6 })
      return
    }
    const order = enqueuing.get(answer.id)
    enqueuing.delete(answer.id)
    if (answer.isStored) order?.resolve()
    else order?.reject(new Error('not stored'))
  })
  child.on('exit', () => {
    for (const order of enqueuing.values()) order.reject(new Error('the process ended'))
    enqueuing.clear()
  })

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  return {
    async enqueue(messages) {
      if (!child.connected) throw new Error('the process ended')
      const order = Promise.withResolvers<void>()
      orders += 1
      enqueuing.set(orders, order)
      child.send({ id: orders, enqueue: messages })
      await order.promise
    },
    usage: () =>
      new Promise((resolve) => {
        askers.push(resolve)
        child.send('usage')
      }),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}
