import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BatchStore } from '../../src/ingest/batch-store.ts'
import type { FactStore } from '../../src/ingest/fact-store.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import type { Project } from '../../src/projects/project.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startInstance, userRows } from './instance.ts'

const place = { chain: '1', timestampMicros: 1_700_000_000_000_000 }
const records = (blockNumber: number) => [
  { type: 'counter', name: 'c', value: 1, ...place, blockNumber },
  { type: 'event', name: 'E', attributes: { n: blockNumber }, ...place, blockNumber },
  { type: 'export', name: 'x', channel: 'ch', data: { n: blockNumber }, ...place, blockNumber },
]

/** A way for an instance to die: at the given call of a port, before or after the call took effect, and at every call from then on. */
interface Death {
  readonly at: string
  readonly isAfter: boolean
}

const STEPS: readonly Death[] = ['begin', 'prepare', 'write', 'finish'].flatMap((at) => [
  { at, isAfter: false },
  { at, isAfter: true },
])

/** Lets every call of a port fail once the instance has died. */
function mortal<Port extends object>(port: Port, death: Death, life: { isOver: boolean }): Port {
  return new Proxy(port, {
    get(target, name: string) {
      const method = (target as Readonly<Record<string, unknown>>)[name] as (...args: unknown[]) => unknown
      if (name === 'tablesOf') return method
      return async (...args: unknown[]) => {
        if (life.isOver || (name === death.at && !death.isAfter)) {
          life.isOver = true
          throw new Error('the process has died')
        }
        const result = await method(...args)
        if (name === death.at) {
          life.isOver = true
          throw new Error('the process has died')
        }
        return result
      }
    },
  })
}

describe.each(controlDatabases)('a crash during ingest with $name', ({ open }) => {
  let facts: TestEngine
  let database: TestDatabase

  beforeAll(async () => {
    facts = await startTestEngine()
    database = await open()
  })

  afterAll(async () => {
    await database.close()
    await facts.stop()
  })

  function startMortal(death: Death) {
    const life = { isOver: false }
    return startInstance({
      engine: facts.engine,
      database,
      wrapFacts: (port: FactStore) => mortal(port, death, life),
      wrapBatches: (port: BatchStore) => mortal(port, death, life),
    })
  }

  async function count(project: Project): Promise<readonly unknown[]> {
    const sums = await userRows(
      facts.engine,
      project,
      'select (select sum(value) from c) as c, (select count() from E) as e',
    )
    const { messages } = await database.db
      .selectFrom('webhook_message')
      .innerJoin('webhook_lane', 'webhook_lane.id', 'webhook_message.lane_id')
      .where('webhook_lane.project_id', '=', project.id)
      .select((eb) => eb.fn.countAll().as('messages'))
      .executeTakeFirstOrThrow()
    return [...sums, Number(messages)]
  }

  it.each(STEPS)(
    'at $at (after: $isAfter) leaves a batch whole or not at all, and a retry makes it whole (IN-2)',
    async (death) => {
      const project = await createTestProject(database)
      const before = startInstance({ engine: facts.engine, database })
      await before.accept(project, jsonBatch(records(1), 'one'))

      const batch = jsonBatch(records(2), 'two')
      await expect(startMortal(death).accept(project, batch)).rejects.toThrow('the process has died')
      const after = startInstance({ engine: facts.engine, database })
      await after.recover()

      const isDone = death.at === 'finish' && death.isAfter
      expect(await count(project)).toEqual(isDone ? [{ c: 2, e: '2' }, 2] : [{ c: 1, e: '1' }, 1])
      expect(await after.accept(project, batch)).toMatchObject({ isRepeated: isDone, accepted: 3 })
      expect(await count(project)).toEqual([{ c: 2, e: '2' }, 2])
    },
  )

  it.each([
    { at: 'beginRollback', isAfter: true },
    { at: 'rollBack', isAfter: false },
    { at: 'rollBack', isAfter: true },
    { at: 'forget', isAfter: true },
  ])('at $at (after: $isAfter) of a rollback does not keep it from being completed (IN-3)', async (death) => {
    const project = await createTestProject(database)
    const before = startInstance({ engine: facts.engine, database })
    for (const block of [1, 2, 3]) await before.accept(project, jsonBatch(records(block)))
    const order = { chain: '1', blockNumber: 1, version: null }
    await expect(startMortal(death).rollBack(project, order)).rejects.toThrow('the process has died')

    const after = startInstance({ engine: facts.engine, database })
    await after.recover()
    expect(await count(project)).toEqual([{ c: 1, e: '1' }, 1])
  })

  it('of an instance that shares the engines is repaired once its lease has run out, and not before', async () => {
    const project = await createTestProject(database)
    const batch = jsonBatch(records(1), 'one')
    await expect(startMortal({ at: 'write', isAfter: true }).accept(project, batch)).rejects.toThrow('died')

    let nowMs = Date.now()
    const clock = { now: () => nowMs, monotonic: () => performance.now() }
    const neighbour = startInstance({ engine: facts.engine, database, clock, isSoleInstance: false })
    await neighbour.recover()
    await expect(neighbour.accept(project, batch)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 5,
    })
    nowMs += 3_600_000
    await neighbour.recover()
    expect(await count(project)).toEqual([{ c: 0, e: '0' }, 0])
    expect(await neighbour.accept(project, batch)).toMatchObject({ isRepeated: false })
    expect(await count(project)).toEqual([{ c: 1, e: '1' }, 1])
  })

  it('does not let a rollback that is completed late remove what was stored after it (IN-3)', async () => {
    const project = await createTestProject(database)
    const before = startInstance({ engine: facts.engine, database })
    for (const block of [1, 2, 3]) await before.accept(project, jsonBatch(records(block)))
    const order = { chain: '1', blockNumber: 1, version: null }
    await expect(startMortal({ at: 'rollBack', isAfter: false }).rollBack(project, order)).rejects.toThrow(
      'died',
    )

    let nowMs = Date.now()
    const clock = { now: () => nowMs, monotonic: () => performance.now() }
    const neighbour = startInstance({ engine: facts.engine, database, clock, isSoleInstance: false })
    await neighbour.accept(project, jsonBatch(records(2)))
    nowMs += 3_600_000
    await neighbour.recover()
    expect(await count(project)).toEqual([{ c: 2, e: '2' }, 2])
  })

  it('of the engine between an insert and its answer does not double the insert (IN-2)', async () => {
    const project = await createTestProject(database)
    let failures = 0
    const instance = startInstance({
      engine: facts.engine,
      database,
      wrapFacts: (port) => ({
        ...port,
        write: async (version, batches) => {
          await port.write(version, batches)
          failures++
          if (failures < 3) throw new ServiceError('unavailable', 'the engine has died')
        },
      }),
    })
    await instance.accept(project, jsonBatch(records(1)))
    expect(failures).toBe(3)
    expect(await count(project)).toEqual([{ c: 1, e: '1' }, 1])
  })

  it('of the engine that lasts is told with 503, and the batch can be sent again (IN-2)', async () => {
    const project = await createTestProject(database)
    let isAway = true
    const instance = startInstance({
      engine: facts.engine,
      database,
      limits: { maxEngineAwayMs: 0 },
      wrapFacts: (port) => ({
        ...port,
        write: async (version, batches) => {
          await port.write(version, batches)
          if (isAway) throw new ServiceError('unavailable', 'the engine has died')
        },
        erase: async (version, sequences, tables) => {
          if (isAway) throw new ServiceError('unavailable', 'the engine has died')
          await port.erase(version, sequences, tables)
        },
      }),
    })
    const batch = jsonBatch(records(1), 'one')
    for (let i = 0; i < 2; i++) {
      await expect(instance.accept(project, batch)).rejects.toMatchObject({ code: 'unavailable' })
    }
    isAway = false
    expect(await instance.accept(project, batch)).toMatchObject({ isRepeated: false })
    expect(await count(project)).toEqual([{ c: 1, e: '1' }, 1])
  })

  it('takes a batch back whose exports cannot be enqueued, and keeps its neighbours', async () => {
    const project = await createTestProject(database)
    const instance = startInstance({
      engine: facts.engine,
      database,
      exports: {
        enqueueExports: async (_tx, _version, { messages }) => {
          if (messages.length > 0) throw new Error('the queue is broken')
          return { warnings: new Map(), laneIds: [] }
        },
        withdrawExports: async () => 0,
      },
    })
    const sample = { type: 'counter', name: 'c', value: 1, ...place }
    const event = { type: 'event', name: 'E', ...place }
    await instance.accept(project, jsonBatch([event]))
    const results = await Promise.allSettled([
      instance.accept(project, jsonBatch([sample])),
      instance.accept(project, jsonBatch([sample])),
      instance.accept(project, jsonBatch(records(1))),
      instance.accept(project, jsonBatch([sample])),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await count(project)).toEqual([{ c: 3, e: '1' }, 0])
  })
})
