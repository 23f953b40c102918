import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProjectStore } from '../../src/database/project-store.ts'
import type { FactStore } from '../../src/ingest/fact-store.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { createTestProject, jsonBatch, startInstance } from './instance.ts'

const at = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }
const HOUR = { start: '1699999200', end: '1700002800', step: 3600 }

describe.each(controlDatabases)('a deleted version with $name', ({ name, open }) => {
  let database: TestDatabase
  let service: TestService
  let facts: TestEngine

  beforeAll(async () => {
    database = await open()
    service = await startTestService(name === 'postgres' ? { databaseUrl: database.location } : {})
    facts = await startTestEngine()
  })

  afterAll(async () => {
    await service.stop()
    await facts.stop()
    await database.close()
  })

  const databasesOf = async (projectId: number) => {
    const rows = await facts.engine.rows<{ name: string }>(
      `select name from system.databases where name like 'millrace_p${projectId}_v%' order by name`,
    )
    return rows.map((row) => row.name)
  }

  it('is in no answer any more, those that were kept included (IN-4, CA-6)', async () => {
    await service.post('/projects', { owner: 'acme', name: 'dex' })
    for (let i = 0; i < 2; i++) await service.post('/projects/acme/dex/versions', '')
    await service.post('/ingest/acme/dex/batch', {
      version: 2,
      records: [
        { type: 'gauge', name: 'price', value: 5, ...at },
        { type: 'event', name: 'Sold', attributes: { value: 5 }, ...at },
      ],
    })
    const cachePolicy = { ttlSecs: 86_400, refreshTtlSecs: 86_400 }
    const range = () =>
      service.post('/metrics/acme/dex/query_range', {
        queries: [{ query: 'price', alias: '', id: 'a' }],
        timeRange: HOUR,
        version: 2,
        cachePolicy,
      })
    const sql = () =>
      service.post('/analytics/acme/dex/sql/execute', {
        sqlQuery: { sql: 'select value from Sold' },
        version: 2,
        cachePolicy,
      })
    for (let i = 0; i < 2; i++) {
      expect(JSON.stringify((await range()).body.results)).toContain('"value":5')
      expect((await sql()).body.result.rows).toEqual([{ value: 5 }])
    }

    const removed = await fetch(`${service.url}/api/v1/projects/acme/dex/versions/2`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    })
    expect(removed.status).toBe(200)
    const answer = await range()
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body.results)).not.toContain('"value":5')
    expect((await sql()).body.message).toContain('version 2 has no data')
  })

  it.each([
    { step: 'before it makes room', at: 'prepare' },
    { step: 'before it is stored', at: 'write' },
  ] as const)(
    'is not made again by a batch of another instance that comes meanwhile, $step (IN-4)',
    async ({ at: stopsAt }) => {
      const project = await createTestProject(database)
      const version = { projectId: project.id, version: 2 }
      const projects = createProjectStore(database.db)
      await projects.addVersion(project.id, 0)
      const remover = startInstance({ engine: facts.engine, database, isSoleInstance: false })
      const remove = async () => {
        expect(await projects.removeVersion(project.id, 2)).toBe('removed')
        await remover.dropVersion(version)
      }
      const wrapFacts = (port: FactStore): FactStore => ({
        ...port,
        prepare: async (...given) => {
          if (stopsAt === 'prepare') await remove()
          return port.prepare(...given)
        },
        write: async (...given) => {
          if (stopsAt === 'write') await remove()
          return port.write(...given)
        },
      })
      const sender = startInstance({ engine: facts.engine, database, wrapFacts, isSoleInstance: false })
      const batch = { ...jsonBatch([{ type: 'counter', name: 'c', value: 1, ...at }], 'b'), version: 2 }
      await expect(sender.accept(project, batch)).rejects.toThrow(ServiceError)
      await remover.recover()
      expect(await databasesOf(project.id)).toEqual([])
      await expect(sender.accept(project, batch)).rejects.toMatchObject({ code: 'invalid_argument' })
    },
  )

  it('is removed when the instance that deleted it died before it had removed the data (IN-4)', async () => {
    const project = await createTestProject(database)
    const projects = createProjectStore(database.db)
    await projects.addVersion(project.id, 0)
    const before = startInstance({ engine: facts.engine, database })
    for (const version of [1, 2]) {
      await before.accept(project, {
        ...jsonBatch([{ type: 'counter', name: 'c', value: 1, ...at }]),
        version,
      })
    }
    await projects.removeVersion(project.id, 2)
    await startInstance({ engine: facts.engine, database }).recover()
    expect(await databasesOf(project.id)).toEqual([
      `millrace_p${project.id}_v1`,
      `millrace_p${project.id}_v1_facts`,
    ])
  })
})
