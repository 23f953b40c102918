import { Pool } from 'pg'
import { BATCH_MESSAGES, batchesOf } from '../batches.ts'
import { coalesce } from '../coalesce.ts'
import type { Contender, Outgoing } from '../contender.ts'
import { importPeer } from '../peers.ts'
import { post } from '../post.ts'
import { createStatementCounter } from '../statements.ts'

interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>
  runMigrations(options: object): Promise<void>
  Logger: new (factory: () => () => void) => object
}

type One = Pick<Outgoing, 'channel' | 'data'>

const CONCURRENCY = 64
const MAX_ATTEMPTS = 25
/** What ends while a statement runs is told by the next one. */
const BATCHED = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

/**
 * graphile-worker on PostgreSQL: one job a message, or jobs that are arrays in a named queue for each channel. Arrays that are not full have a job key, so
 * that one which still waits grows by what comes, as its documentation advises for batches.
 */
export const graphileWorker = (build: 'plain' | 'expert'): Contender => ({
  name: `graphile-worker, ${build}`,
  server: 'postgres',
  packages: ['graphile-worker'],

  async open(location) {
    const { runMigrations, Logger } = await importPeer<GraphileWorker>('graphile-worker')
    await runMigrations({ connectionString: location, logger: new Logger(() => () => {}) })
    const pool = new Pool({ connectionString: location, max: 4 })
    pool.on('error', () => {})
    const add = `
      select key from graphile_worker.add_jobs((
        select array_agg(
          ('send', one -> 'payload', one ->> 'queue', null, ${MAX_ATTEMPTS}, one ->> 'key', null, null)::graphile_worker.job_spec)
        from json_array_elements($1::json) as one))`
    const statements = createStatementCounter(location)

    async function enqueue(messages: readonly Outgoing[]): Promise<void> {
      const jobs =
        build === 'plain'
          ? messages.map((payload) => ({ payload, queue: null, key: null }))
          : batchesOf(messages).map(({ channel, messages: list }) => {
              const queue = `channel ${channel}`
              const payload = list.map((data) => ({ channel, data }))
              return { payload, queue, key: list.length < BATCH_MESSAGES ? queue : null }
            })
      const { rows } = await pool.query<{ key: string | null }>(add, [JSON.stringify(jobs)])
      // A job that a worker took in this moment is neither extended nor made anew, and not returned.
      const stored = new Set(rows.map(({ key }) => key))
      const missing = jobs.filter(({ key }) => key !== null && !stored.has(key))
      if (missing.length === 0) return
      await pool.query(add, [JSON.stringify(missing.map((job) => ({ ...job, key: null })))])
    }

    return {
      enqueue: build === 'plain' ? enqueue : coalesce(enqueue),
      statements: statements.count,
      async close() {
        await statements.close()
        await pool.end()
      },
    }
  },

  async work(location, urls) {
    const { run, Logger } = await importPeer<GraphileWorker>('graphile-worker')
    const runner = await run({
      connectionString: location,
      logger: new Logger(() => () => {}),
      concurrency: CONCURRENCY,
      maxPoolSize: 20,
      noHandleSignals: true,
      pollInterval: 1000,
      // Jobs of a named queue come one at a time; a local queue that has run out of them waits for the next poll.
      preset: { worker: build === 'plain' ? { localQueue: { size: 500 }, ...BATCHED } : BATCHED },
      taskList: {
        send: (payload: One | readonly One[]) => sendAll([payload].flat(), urls),
      },
    })
    // One that has lost its database may have stopped by itself.
    return { stop: () => runner.stop().catch(() => undefined) }
  },
})

/** Messages of one channel, in requests of as many as others put into one. */
async function sendAll(messages: readonly One[], urls: readonly string[]): Promise<void> {
  const url = urls[messages[0]?.channel ?? 0] ?? ''
  for (let from = 0; from < messages.length; from += BATCH_MESSAGES) {
    await post(
      url,
      messages.slice(from, from + BATCH_MESSAGES).map(({ data }) => data),
    )
  }
}
