import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What the receiver's process is told. */
export type SinkOrder =
  | {
      readonly kind: 'behave'
      readonly latencyMs: number
      /** Channels that never answer. */
      readonly hanging: readonly number[]
      /** True answers 503 to everything. */
      readonly isDown: boolean
    }
  | { readonly kind: 'reset'; readonly arrivalsFrom: number }
  | { readonly kind: 'report'; readonly withArrivals: boolean }

/** Number of a message, when it was enqueued, when the request that carried it was begun, and when that arrived. */
export type Arrival = readonly [n: number, at: number, sentAt: number, arrivedAt: number]

/** What the receiver has taken. Instants are of the machine's monotonic clock. */
export interface SinkReport {
  readonly distinct: number
  readonly messages: number
  readonly calls: number
  readonly firstAt: number
  readonly lastAt: number
  readonly arrivals: readonly Arrival[]
  /** Second of the clock, calls in it, and messages. */
  readonly perSecond: readonly (readonly [number, number, number])[]
  /** Calls that were answered 503. */
  readonly refused: number
  /** How many messages the first calls had, the largest of any channel's first, second and so on. */
  readonly firstBatches: readonly number[]
}

/** A receiver in a process of its own. */
export interface Sink {
  urls(channels: number): readonly string[]
  behave(behaviour: Partial<Omit<Extract<SinkOrder, { kind: 'behave' }>, 'kind'>>): Promise<void>
  /** Forgets what came; only arrivals of messages enqueued at `arrivalsFrom` or later are kept from now on. */
  reset(arrivalsFrom?: number): Promise<void>
  report(withArrivals?: boolean): Promise<SinkReport>
  close(): Promise<void>
}

/** Starts it. */
export async function startSink(): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('sink-process.ts', import.meta.url)), {
    serialization: 'advanced',
  })
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }]
  let turn: Promise<unknown> = Promise.resolve()

  function order<T>(message: SinkOrder): Promise<T> {
    const answer = turn.then(async () => {
      const answered = once(child, 'message')
      child.send(message)
      return ((await answered) as [T])[0]
    })
    turn = answer
    return answer
  }

  return {
    urls: (channels) =>
      Array.from(
        { length: channels },
        (_, index) => `http://127.1.${Math.floor(index / 250)}.${(index % 250) + 1}:${port}/${index}`,
      ),
    behave: ({ latencyMs = 0, hanging = [], isDown = false }) =>
      order({ kind: 'behave', latencyMs, hanging, isDown }),
    reset: (arrivalsFrom = 0) => order({ kind: 'reset', arrivalsFrom }),
    report: (withArrivals = false) => order<SinkReport>({ kind: 'report', withArrivals }),
    async close() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Milliseconds of the clock that all processes of a machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
