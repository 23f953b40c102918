import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAnsweredWrites, type AnsweredWrites } from '../../src/cache/answered-writes.ts'
import type { Coverage } from '../../src/cache/data-version-store.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import type { BatchStore } from '../../src/ingest/batch-store.ts'
import type { FactStore } from '../../src/ingest/fact-store.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import type { Project } from '../../src/projects/project.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startInstance, userRows, type InstanceOptions } from './instance.ts'

const place = (blockNumber: number) => ({ chain: '1', blockNumber, timestampMicros: 1.7e15 + blockNumber })
const sample = (blockNumber: number, name = 'c') => ({
  type: 'counter',
  name,
  value: 1,
  ...place(blockNumber),
})
const event = (blockNumber: number, attributes: object = { n: 1 }) => ({
  type: 'event',
  name: 'E',
  attributes,
  ...place(blockNumber),
})
const EVERYTHING: Coverage = { names: null, fromMicros: null, toMicros: null }
const LARGE = jsonBatch(Array.from({ length: 2000 }, () => sample(1, 'large')))

/** Holds what is written until it is let go: large batches on one side, small ones on the other. */
function createGate() {
  const gates = { small: Promise.withResolvers<void>(), large: Promise.withResolvers<void>() }
  let isHolding = false
  let isDead = false
  let failure: Error | null = null
  const begun = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const wrapFacts = (facts: FactStore): FactStore => ({
    ...facts,
    write: async (version, batches, attempt) => {
      const isLarge = batches.some(({ batch }) => batch.recordCount > 1000)
      if (!isHolding) return facts.write(version, batches, attempt)
      if (isLarge) begun.resolve()
      await gates[isLarge ? 'large' : 'small'].promise
      if (isDead) await new Promise(() => undefined)
      if (failure && !isLarge) throw failure
      await facts.write(version, batches, attempt)
      if (!isLarge) written.resolve()
    },
  })
  return {
    wrapFacts,
    hold: () => {
      isHolding = true
    },
    open: (which: 'small' | 'large') => {
      gates[which].resolve()
    },
    /** Nothing is written any more. */
    die: () => {
      isDead = true
    },
    fail: (error: Error | null) => {
      failure = error
    },
    /** When the large batch is being written. */
    begun: () => begun.promise,
    /** When small batches are written; that they are finished too is another matter. */
    written: () => written.promise,
  }
}

describe.each(controlDatabases)('small batches beside large ones with $name', ({ open }) => {
  let facts: TestEngine
  let database: TestDatabase
  let project: Project
  let answered: AnsweredWrites
  const ending: (() => void)[] = []

  beforeAll(async () => {
    facts = await startTestEngine()
    database = await open()
  })
  beforeEach(async () => {
    project = await createTestProject(database)
    answered = createAnsweredWrites(() => new Promise(() => undefined))
  })
  afterAll(async () => {
    for (const end of ending) end()
    await database.close()
    await facts.stop()
  })

  const owner = () => ({ projectId: project.id, version: 1 })
  const whenStored = (coverage = EVERYTHING) => answered.whenStored(owner(), () => coverage)
  const counts = () =>
    userRows(facts.engine, project, 'select (select count() from c) as c, (select count() from E) as e')
  const kept = async () =>
    (
      await database.db
        .selectFrom('ingest_kept')
        .innerJoin('ingest_batch', 'ingest_batch.sequence', 'ingest_kept.sequence')
        .select(['batch_id', 'state'])
        .where('project_id', '=', project.id)
        .execute()
    ).map(({ batch_id: id, state }) => `${id} ${state}`)

  /** An instance that is storing a large batch, and stores nothing before the gate is opened. */
  async function startBusy(options: Partial<InstanceOptions> = {}) {
    const gate = createGate()
    const { wrapFacts } = gate
    const ingest = startInstance({ engine: facts.engine, database, answered, wrapFacts, ...options })
    // From now on it knows what there is.
    await ingest.accept(project, jsonBatch([sample(1), sample(1, 'large'), event(1)]))
    gate.hold()
    const large = ingest.accept(project, LARGE)
    large.catch(() => undefined)
    await gate.begun()
    ending.push(() => {
      gate.open('small')
      gate.open('large')
    })
    return { ingest, gate, large }
  }
  /** The next instance on the same engines, as after a crash. */
  async function recover(options: Partial<InstanceOptions> = {}): Promise<Ingest> {
    const after = startInstance({ engine: facts.engine, database, ...options })
    await after.recover()
    return after
  }

  it('are answered when they are durable, and readers of what they touch wait until they are stored (IN-2)', async () => {
    const { ingest, gate, large } = await startBusy()
    const batch = jsonBatch([sample(2), event(2)], 'one')
    expect(await ingest.accept(project, batch)).toMatchObject({
      accepted: 2,
      isRepeated: false,
      warnings: [],
    })
    expect(await counts()).toEqual([{ c: '1', e: '1' }])
    expect(await kept()).toEqual(['one open'])
    let isRead = false
    const reading = (async () => {
      await whenStored()
      isRead = true
    })()
    await whenStored({ ...EVERYTHING, names: ['other'] })
    await whenStored({ ...EVERYTHING, toMicros: 1.7e15 })
    expect(isRead).toBe(false)

    gate.open('small')
    await reading
    expect(await counts()).toEqual([{ c: '2', e: '2' }])
    expect(await kept()).toEqual([])
    expect(answered.has(owner())).toBe(false)
    expect(await ingest.accept(project, batch)).toMatchObject({ accepted: 2, isRepeated: true })
    gate.open('large')
    await large
    expect(await counts()).toEqual([{ c: '2', e: '2' }])
  })

  it('are answered the same again before they are stored, and other content is refused (IN-2)', async () => {
    const { ingest } = await startBusy()
    await ingest.accept(project, jsonBatch([sample(2)], 'one'))
    expect(await ingest.accept(project, jsonBatch([sample(2)], 'one'))).toMatchObject({
      accepted: 1,
      isRepeated: true,
    })
    await expect(ingest.accept(project, jsonBatch([sample(3)], 'one'))).rejects.toMatchObject({
      code: 'already_exists',
    })
    expect(await kept()).toEqual(['one open'])
  })

  it.each([
    ['before they are written', false],
    ['after they are written', true],
  ])('survive a crash %s, exactly once (IN-2)', async (_, isWritten) => {
    let isDying = false
    const dying = (batches: BatchStore): BatchStore => ({
      ...batches,
      finish: (...args) =>
        isDying ? Promise.reject(new Error('the process has died')) : batches.finish(...args),
    })
    const { ingest, gate } = await startBusy({ wrapBatches: dying })
    isDying = true
    for (const id of ['one', 'two']) await ingest.accept(project, jsonBatch([sample(2), event(2)], id))
    if (isWritten) {
      gate.open('small')
      await gate.written()
    }
    gate.die()
    // Dies again, when it has stored them and not said so.
    await expect(recover({ wrapBatches: dying })).rejects.toThrow('the process has died')
    const after = await recover()
    expect(await counts()).toEqual([{ c: '3', e: '3' }])
    expect(await kept()).toEqual([])
    expect(await after.accept(project, jsonBatch([sample(2), event(2)], 'two'))).toMatchObject({
      accepted: 2,
      isRepeated: true,
    })
    await recover()
    expect(await counts()).toEqual([{ c: '3', e: '3' }])
  })

  it('are stored before a rollback that comes after them begins (IN-3)', async () => {
    const { ingest, gate, large } = await startBusy()
    await ingest.accept(project, jsonBatch([sample(2), sample(3)]))
    const rollback = ingest.rollBack(project, { chain: '1', blockNumber: 2, version: null })
    gate.open('large')
    await large
    gate.open('small')
    await rollback
    expect(await counts()).toEqual([{ c: '2', e: '1' }])
  })

  it('wait for the engine where more of them would be kept than may be', async () => {
    const { ingest, gate } = await startBusy({ limits: { maxKeptBytes: 300 } })
    await ingest.accept(project, jsonBatch([sample(2)], 'one'))
    const second = ingest.accept(project, jsonBatch([sample(3), sample(3)], 'two'))
    gate.open('small')
    expect(await second).toMatchObject({ accepted: 2 })
    await whenStored()
    expect(await counts()).toEqual([{ c: '4', e: '1' }])
  })

  it('are not answered early while what was answered cannot be stored, and all are stored when it can', async () => {
    const retries: (() => void)[] = []
    const { ingest, gate } = await startBusy({
      limits: { maxEngineAwayMs: 0 },
      sleep: () => new Promise<void>((resolve) => retries.push(resolve)),
    })
    gate.fail(new ServiceError('unavailable', 'the engine is away'))
    gate.open('small')
    await ingest.accept(project, jsonBatch([sample(2)], 'one'))
    await expect.poll(() => retries.length).toBe(1)
    await expect(ingest.accept(project, jsonBatch([sample(3)], 'two'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(await kept()).toEqual(['one open'])
    gate.fail(null)
    retries[0]?.()
    await whenStored()
    expect(await counts()).toEqual([{ c: '2', e: '1' }])
  })

  it('of a deleted version are given up, and its removal goes on (IN-4)', async () => {
    const { ingest, gate, large } = await startBusy()
    await ingest.accept(project, jsonBatch([sample(2)], 'one'))
    await database.db
      .updateTable('project_version')
      .set({ state: 'deleted' })
      .where('project_id', '=', project.id)
      .execute()
    const removal = ingest.dropVersion(owner())
    gate.open('small')
    gate.open('large')
    await large.catch(() => undefined)
    await removal
    await whenStored()
    await recover()
    expect(await kept()).toEqual([])
  })

  it('of a removed project are given up', async () => {
    const { ingest, gate } = await startBusy()
    await ingest.accept(project, jsonBatch([sample(2)], 'one'))
    await createProjectStore(database.db).remove(project.id)
    gate.open('small')
    await whenStored()
    expect(await kept()).toEqual([])
  })

  it.each([
    ['an export', { type: 'export', name: 'x', channel: 'ch', data: {}, ...place(2) }],
    ['an entity', { type: 'upsert', name: 'T', id: '1', attributes: {}, ...place(2) }],
    ['a sample without a chain', { type: 'counter', name: 'c', value: 1, timestampMicros: 1 }],
    ['a new series', { ...sample(2), labels: { a: 'b' } }],
    ['a new attribute', event(2, { other: 1 })],
    ['a new event log', { ...event(2), name: 'F' }],
  ])('wait for the engine with %s', async (_, record) => {
    const { ingest, gate } = await startBusy()
    const accepting = ingest.accept(project, jsonBatch([record], 'one'))
    const found = () =>
      database.db
        .selectFrom('ingest_batch')
        .select(['answer', 'state'])
        .where('batch_id', '=', 'one')
        .where('project_id', '=', project.id)
        .execute()
    await expect.poll(found).toEqual([{ answer: null, state: 'open' }])
    expect(await kept()).toEqual([])
    gate.open('small')
    expect(await accepting).toMatchObject({ accepted: 1 })
    expect(await found()).toMatchObject([{ state: 'done' }])
  })

  it('wait for the engine where no large batch is under way, so that they are stored when they are answered', async () => {
    const idle = startInstance({ engine: facts.engine, database, answered })
    await idle.accept(project, jsonBatch([sample(1), event(1)]))
    await idle.accept(project, jsonBatch([sample(2)]))
    expect(await counts()).toEqual([{ c: '2', e: '1' }])
  })
})
