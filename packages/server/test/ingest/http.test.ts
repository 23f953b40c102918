import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/http/app.ts'
import { ingestRoute } from '../../src/http/routes/ingest.ts'
import { rollbackRoute } from '../../src/http/routes/rollback.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, startInstance, userRows } from './instance.ts'

const record = {
  type: 'counter',
  name: 'c',
  value: 1,
  chain: '1',
  blockNumber: 3,
  timestampMicros: 1_700_000_000_000_000,
}

let facts: TestEngine
let database: TestDatabase
let ingest: Ingest
let project: Project
let app: FastifyInstance

beforeAll(async () => {
  facts = await startTestEngine()
  database = await openSqlite()
  project = await createTestProject(database)
  ingest = startInstance({ engine: facts.engine, database, limits: { maxWaitingBytes: 3000 } })
  app = await buildApp({
    log: silentLogger,
    access: { check: async () => ({ key: null, project }), recall: () => null },
    routes: [ingestRoute(ingest), rollbackRoute(ingest)],
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

const post = (path: string, payload: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: `/v1/ingest/test/p/${path}`, payload, headers })

const ndjson = { 'content-type': 'application/x-ndjson' }

describe('the ingest routes', () => {
  it('take JSON and NDJSON, with batch id and version in the body, the address or a header (IN-2)', async () => {
    const body = { batch_id: 'j', version: 1, records: [record] }
    const json = await post('batch', JSON.stringify(body), { 'content-type': 'text/plain' })
    expect([json.statusCode, json.json()]).toEqual([
      200,
      { batchId: 'j', version: 1, accepted: 1, isRepeated: false, warnings: [] },
    ])
    const lines = `${JSON.stringify(record)}\n${JSON.stringify(record)}\n`
    const line = await post('batch?batchId=n&version=0', lines, ndjson)
    expect(line.json()).toMatchObject({ batchId: 'n', version: 1, accepted: 2 })
    const header = await post('batch', lines, { ...ndjson, 'batch-id': 'n' })
    expect(header.json()).toMatchObject({ batchId: 'n', isRepeated: true })
    expect(await userRows(facts.engine, project, 'select sum(value) as s from c')).toEqual([{ s: 3 }])
  })

  it('answer 400 with the faults, 409 for a batch id with other content, and 413 beyond the size limit (ER-1, ER-5)', async () => {
    const malformed = await post('batch', `${JSON.stringify(record)}\n`.repeat(6) + '{"type":', ndjson)
    expect([malformed.statusCode, malformed.json().message]).toEqual([
      400,
      expect.stringMatching(/^line 7 is not valid JSON/),
    ])
    const faulty = await post('batch', JSON.stringify({ records: [record, { ...record, value: 'x' }] }))
    expect(faulty.json()).toMatchObject({ code: 3, details: [{ index: 1, field: 'value' }] })
    const other = await post('batch?batchId=n', JSON.stringify(record), ndjson)
    expect([other.statusCode, other.json().code]).toEqual([409, 6])
    const large = await post('batch', 'x'.repeat(100_001), ndjson)
    expect([large.statusCode, large.json().code]).toEqual([413, 3])
    const version = await post('batch?version=9', JSON.stringify(record), ndjson)
    expect([version.statusCode, version.json().message]).toEqual([
      400,
      'version 9 does not exist; the newest is 1',
    ])
  })

  it('answer 429 with Retry-After when more waits than may, and lose nothing that was accepted', async () => {
    const body = `${JSON.stringify({ ...record, name: 'pressed' })}\n`.repeat(10)
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('batch', body, ndjson)))
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers['retry-after']).toBe('1')
    const accepted = answers.filter(({ statusCode }) => statusCode === 200).length
    expect(accepted + refused.length).toBe(20)
    expect(await userRows(facts.engine, project, 'select sum(value) as s from pressed')).toEqual([
      { s: accepted * 10 },
    ])
  })

  it('roll back, in either spelling (IN-3, WI-2)', async () => {
    const answer = await post('rollback', '{"chain":"1","block_number":2}')
    expect([answer.statusCode, answer.json()]).toEqual([200, { version: 1, withdrawnExports: 0 }])
    expect(await userRows(facts.engine, project, 'select count() as n from c')).toEqual([{ n: '0' }])
  })
})
