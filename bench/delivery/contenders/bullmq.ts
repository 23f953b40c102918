import { batchesOf, type BatchJob } from '../batches.ts'
import type { Contender, Outgoing } from '../contender.ts'
import { importPeer } from '../peers.ts'
import { post } from '../post.ts'

interface Closable {
  close(): Promise<void>
}
interface Job<T> {
  readonly data: T
}
interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => Closable & {
    addBulk(jobs: readonly { name: string; data: unknown; opts: object }[]): Promise<unknown>
  }
  Worker: new (
    name: string,
    run: (job: Job<never>) => Promise<void>,
    options: object,
  ) => Closable & {
    on(event: 'error', listener: () => void): void
  }
}
interface Redis {
  /** A connection that breaks is made again by itself. */
  on(event: 'error', listener: () => void): void
  info(section: string): Promise<string>
  quit(): Promise<unknown>
}

/** The last attempt is 4095 s after the first: an outage of an hour is survived, as pg-boss does with the same steps. */
const JOB = {
  attempts: 13,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: true,
  removeOnFail: 1000,
}
const CONCURRENCY = 64

/** BullMQ on Redis: one job a message in one queue, or a queue for each channel whose jobs are arrays. */
export const bullmq = (build: 'plain' | 'expert'): Contender => ({
  name: `BullMQ, ${build}`,
  server: 'redis',
  packages: ['bullmq', 'ioredis'],

  async open(location, urls) {
    const { Queue } = await importPeer<BullMq>('bullmq')
    const { Redis } = await importPeer<{ Redis: new (url: string, options: object) => Redis }>('ioredis')
    const redis = new Redis(location, { maxRetriesPerRequest: null })
    redis.on('error', () => {})
    const connection = redis
    const names = build === 'plain' ? ['messages'] : urls.map((_, channel) => `channel-${channel}`)
    const queues = names.map((name) => new Queue(name, { connection }))
    return {
      async enqueue(messages) {
        if (build === 'plain') {
          await queues[0]?.addBulk(messages.map((data) => ({ name: 'send', data, opts: JOB })))
          return
        }
        await Promise.all(
          batchesOf(messages).map(async (data) => {
            await queues[data.channel]?.addBulk([{ name: 'send', data, opts: JOB }])
          }),
        )
      },
      async statements() {
        const info = await redis.info('stats')
        return Number(/total_commands_processed:(\d+)/.exec(info)?.[1] ?? 0)
      },
      async close() {
        await Promise.all(queues.map((queue) => queue.close()))
        await redis.quit()
      },
    }
  },

  async work(location, urls) {
    const { Worker } = await importPeer<BullMq>('bullmq')
    const { Redis } = await importPeer<{ Redis: new (url: string, options: object) => Redis }>('ioredis')
    const connection = new Redis(location, { maxRetriesPerRequest: null })
    connection.on('error', () => {})
    const workers =
      build === 'plain'
        ? [
            new Worker('messages', ({ data }: Job<Outgoing>) => post(urls[data.channel] ?? '', [data.data]), {
              connection,
              concurrency: CONCURRENCY,
            }),
          ]
        : urls.map(
            (url, channel) =>
              new Worker(`channel-${channel}`, ({ data }: Job<BatchJob>) => post(url, data.messages), {
                connection,
                // One at a time keeps the order.
                concurrency: 1,
              }),
          )
    for (const worker of workers) worker.on('error', () => {})
    return {
      async stop() {
        await Promise.all(workers.map((worker) => worker.close()))
        await connection.quit()
      },
    }
  },
})
