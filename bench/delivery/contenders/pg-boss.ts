import { BATCH_MESSAGES } from '../batches.ts'
import { coalesce } from '../coalesce.ts'
import type { Contender, Outgoing } from '../contender.ts'
import { importPeer } from '../peers.ts'
import { post } from '../post.ts'
import { createStatementCounter } from '../statements.ts'

interface Job {
  readonly id: string
  readonly data: Outgoing
}
interface Boss {
  on(event: 'error', listener: () => void): void
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string, options: object): Promise<void>
  insert(name: string, jobs: readonly { readonly data: Outgoing }[]): Promise<unknown>
  work(name: string, options: object, run: (jobs: readonly Job[]) => Promise<unknown>): Promise<string>
}

/** A job takes a request's 5 s at most; by default, one whose worker was killed is held for 15 min, and looked for once a minute. */
const ABANDONED = {
  queue: { expireInSeconds: 30 },
  boss: { superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 },
}
const QUEUE = { ...ABANDONED.queue, retryLimit: 12, retryDelay: 1, retryBackoff: true, retryDelayMax: 3600 }
/** As often as it may look; at once again while there is more than it takes at a time. */
const POLLING = { pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }
/** Who waits is woken by what comes. What is due again wakes nobody, so looking goes on as often. */
const WOKEN_POLLING = { ...POLLING, notifyPollingIntervalSeconds: POLLING.pollingIntervalSeconds }

/**
 * pg-boss on PostgreSQL: one job a message in one queue that is polled, or a queue for each channel, taken a hundred at a time, whose worker is woken.
 */
export const pgBoss = (build: 'plain' | 'expert'): Contender => ({
  name: `pg-boss, ${build}`,
  server: 'postgres',
  packages: ['pg-boss'],

  async open(location, urls) {
    const boss = await createBoss(location, build)
    await boss.start()
    const names = build === 'plain' ? ['messages'] : urls.map((_, channel) => `channel-${channel}`)
    for (const name of names) await boss.createQueue(name, { ...QUEUE, notify: build === 'expert' })
    const statements = createStatementCounter(location)

    async function enqueue(messages: readonly Outgoing[]): Promise<void> {
      const byQueue = Map.groupBy(messages, ({ channel }) =>
        build === 'plain' ? 'messages' : `channel-${channel}`,
      )
      for (const [name, list] of byQueue)
        await boss.insert(
          name,
          list.map((data) => ({ data })),
        )
    }

    return {
      enqueue: build === 'plain' ? enqueue : coalesce(enqueue),
      statements: statements.count,
      async close() {
        await statements.close()
        await boss.stop({ graceful: false })
      },
    }
  },

  async work(location, urls) {
    const boss = await createBoss(location, build)
    await boss.start()
    if (build === 'plain') {
      await boss.work(
        'messages',
        { batchSize: 64, localConcurrency: 4, perJobResults: true, ...POLLING },
        (jobs) => Promise.all(jobs.map((job) => sendOne(job, urls[job.data.channel] ?? ''))),
      )
    } else {
      for (const [channel, url] of urls.entries()) {
        await boss.work(`channel-${channel}`, { batchSize: BATCH_MESSAGES, ...WOKEN_POLLING }, (jobs) =>
          post(
            url,
            jobs.map(({ data }) => data.data),
          ),
        )
      }
    }
    return { stop: () => boss.stop({ graceful: true, timeout: 8000 }) }
  },
})

/** One message whose receiver fails does not take those with it that were taken together. */
async function sendOne({ id, data }: Job, url: string): Promise<object> {
  try {
    await post(url, [data.data])
    return { id, status: 'completed' }
  } catch {
    return { id, status: 'failed' }
  }
}

async function createBoss(connectionString: string, build: 'plain' | 'expert'): Promise<Boss> {
  const { PgBoss } = await importPeer<{ PgBoss: new (options: object) => Boss }>('pg-boss')
  const boss = new PgBoss({
    connectionString,
    max: 20,
    useListenNotify: build === 'expert',
    ...ABANDONED.boss,
  })
  boss.on('error', () => {})
  return boss
}
