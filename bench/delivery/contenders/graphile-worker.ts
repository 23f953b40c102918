import { Pool } from 'pg'
import { batchesOf, type BatchJob } from '../batches.ts'
import type { Contender, Outgoing } from '../contender.ts'
import { importPeer } from '../peers.ts'
import { post } from '../post.ts'
import { countStatements } from '../statements.ts'

interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>
  runMigrations(options: object): Promise<void>
  Logger: new (factory: () => () => void) => object
}

const CONCURRENCY = 64
const MAX_ATTEMPTS = 25
/** What ends while a statement runs is told by the next one. */
const BATCHED = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

/** graphile-worker on PostgreSQL: one job a message, or jobs that are arrays in a named queue for each channel. */
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
      select graphile_worker.add_jobs(array_agg(
        ('send', one -> 'payload', one ->> 'queue', null, ${MAX_ATTEMPTS}, null, null, null)::graphile_worker.job_spec))
      from json_array_elements($1::json) as one`
    return {
      async enqueue(messages) {
        const jobs =
          build === 'plain'
            ? messages.map((payload) => ({ payload, queue: null }))
            : batchesOf(messages).map((payload) => ({ payload, queue: `channel ${payload.channel}` }))
        await pool.query(add, [JSON.stringify(jobs)])
      },
      statements: () => countStatements(pool),
      close: () => pool.end(),
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
        send: (payload: Outgoing | BatchJob) =>
          post(urls[payload.channel] ?? '', 'messages' in payload ? payload.messages : [payload.data]),
      },
    })
    return { stop: () => runner.stop() }
  },
})
