/** A message on its way into a queue: which channel it is for, its number in the run, and its JSON text. */
export interface Outgoing {
  readonly channel: number
  readonly n: number
  readonly data: string
}

/** The side of a contender that puts messages into its queue. */
export interface Feeder {
  enqueue(messages: readonly Outgoing[]): Promise<void>
  /** Statements or commands that the server has run so far; null where there is no server to ask. */
  statements(): Promise<number | null>
  close(): Promise<void>
}

/** The side of a contender that takes messages out and sends them; runs in a process of its own. */
export interface RunningWorker {
  /** Puts messages in from inside, where queue and worker are one process; absent where others do it. */
  enqueue?(messages: readonly Outgoing[]): Promise<void>
  stop(): Promise<void>
}

/** The server that a contender keeps its queue in. */
export type ServerKind = 'none' | 'postgres' | 'redis'

/** One way to deliver webhooks. */
export interface Contender {
  readonly name: string
  readonly server: ServerKind
  /** npm packages that are installed when it takes part. */
  readonly packages: readonly string[]
  /** Before a worker runs; creates what the channels need. */
  open(location: string, urls: readonly string[]): Promise<Feeder>
  work(location: string, urls: readonly string[]): Promise<RunningWorker>
}
