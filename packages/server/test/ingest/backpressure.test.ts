import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/http/app.ts'
import { ingestRoute } from '../../src/http/routes/ingest.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, startInstance, userRows } from './instance.ts'

const SENDERS = 12
const BATCHES = 8
const RECORDS = 5
/** Room for four of the batches below. */
const MAX_WAITING_BYTES = 3000

let facts: TestEngine
let database: TestDatabase
let ingest: Ingest
let project: Project
let app: FastifyInstance

let senders = SENDERS
let refusals = 0
let releaseWrite: () => void = () => undefined
let batchesAtOnce = 0

beforeAll(async () => {
  facts = await startTestEngine()
  database = await openSqlite()
  project = await createTestProject(database)
  ingest = startInstance({
    engine: facts.engine,
    database,
    limits: { maxWaitingBytes: MAX_WAITING_BYTES },
    wrapFacts: (store) => ({
      ...store,
      // Slower than the senders: it stores nothing until one of them is refused, as long as there are enough to be.
      write: async (version, batches) => {
        batchesAtOnce = Math.max(batchesAtOnce, batches.length)
        if (senders > 6) {
          await new Promise<void>((resolve) => {
            releaseWrite = resolve
          })
        }
        await store.write(version, batches)
      },
    }),
  })
  app = await buildApp({
    log: silentLogger,
    access: { check: async () => ({ key: null, project }), recall: () => null },
    routes: [ingestRoute(ingest)],
    bodyLimitBytes: 100_000,
    checkReady: () => facts.engine.ping(),
  })
})

afterAll(async () => {
  await app.close()
  await ingest.stop()
  await database.close()
  await facts.stop()
})

function bodyOf(sender: number, batch: number): string {
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    type: 'counter',
    name: 'pressed',
    value: 1,
    chain: '1',
    blockNumber: sender * BATCHES + batch,
    logIndex: i,
    timestampMicros: 1_700_000_000_000_000,
  }))
  return JSON.stringify({ batchId: `${sender}-${batch}`, records })
}

async function send(sender: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    for (;;) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v1/ingest/test/p/batch',
        headers: { 'content-type': 'application/json' },
        payload: bodyOf(sender, batch),
      })
      if (answer.statusCode === 200) break
      expect(answer.statusCode).toBe(429)
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.json()).toMatchObject({ code: 8 })
      refusals++
      releaseWrite()
    }
  }
  senders--
  // Nobody is left to be refused when the last ones are done.
  releaseWrite()
}

it('refuses with 429 and Retry-After what an engine slower than its senders has no room for, and loses nothing (IN-2)', async () => {
  expect(bodyOf(11, 7).length * 4).toBeLessThan(MAX_WAITING_BYTES)
  expect(bodyOf(0, 0).length * 5).toBeGreaterThan(MAX_WAITING_BYTES)
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)))
  expect(refusals).toBeGreaterThan(SENDERS)
  expect(batchesAtOnce).toBeLessThanOrEqual(4)
  expect(
    await userRows(
      facts.engine,
      project,
      'select count() as n, uniqExact(block_number) as blocks, sum(value) as total from pressed',
    ),
  ).toEqual([{ n: String(SENDERS * BATCHES * RECORDS), blocks: String(SENDERS * BATCHES), total: 480 }])
}, 60_000)
