import { coalesce } from '../coalesce.ts'
import type { Contender, Outgoing } from '../contender.ts'
import { importPeer } from '../peers.ts'
import { post } from '../post.ts'
import { createStatementCounter } from '../statements.ts'

interface Boss {
  on(event: 'error', listener: () => void): void
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string, options: object): Promise<void>
  insert(name: string, jobs: readonly { readonly data: Outgoing }[]): Promise<unknown>
  work(
    name: string,
    options: object,
    run: (jobs: readonly { readonly data: Outgoing }[]) => Promise<void>,
  ): Promise<string>
}

const QUEUE = { retryLimit: 12, retryDelay: 1, retryBackoff: true, retryDelayMax: 3600 }

/** pg-boss on PostgreSQL: one job a message in one queue, or a queue for each channel, taken a hundred at a time. */
export const pgBoss = (build: 'plain' | 'expert'): Contender => ({
  name: `pg-boss, ${build}`,
  server: 'postgres',
  packages: ['pg-boss'],

  async open(location, urls) {
    const boss = await createBoss(location)
    await boss.start()
    const names = build === 'plain' ? ['messages'] : urls.map((_, channel) => `channel-${channel}`)
    for (const name of names) await boss.createQueue(name, QUEUE)
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
    const boss = await createBoss(location)
    await boss.start()
    if (build === 'plain') {
      await boss.work(
        'messages',
        { batchSize: 64, localConcurrency: 4, pollingIntervalSeconds: 0.5 },
        async (jobs) => {
          await Promise.all(jobs.map(({ data }) => post(urls[data.channel] ?? '', [data.data])))
        },
      )
    } else {
      for (const [channel, url] of urls.entries()) {
        await boss.work(`channel-${channel}`, { batchSize: 100, pollingIntervalSeconds: 0.5 }, (jobs) =>
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

async function createBoss(connectionString: string): Promise<Boss> {
  const { PgBoss } = await importPeer<{ PgBoss: new (options: object) => Boss }>('pg-boss')
  const boss = new PgBoss({ connectionString, max: 20 })
  boss.on('error', () => {})
  return boss
}
