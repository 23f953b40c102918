import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Question } from '../../src/cache/cache-policy.ts'
import { createChangeCollector, touchesOf } from '../../src/cache/data-change.ts'
import { createDataVersions, type DataVersions } from '../../src/cache/data-versions.ts'
import { createReadViews, type ReadViews } from '../../src/cache/read-view.ts'
import type { Reading } from '../../src/cache/snapshot.ts'
import { createBatchStore } from '../../src/database/batch-store.ts'
import { createDataVersionStore } from '../../src/database/data-version-store.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import type { BatchStore } from '../../src/ingest/batch-store.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock } from '../support/manual-clock.ts'

const DAY_MICROS = 86_400_000_000
const LEASE = { owner: 'test', until: 0 }

describe.each(controlDatabases)('the view of one computation on $name', ({ open }) => {
  let database: TestDatabase
  let batches: BatchStore
  let views: ReadViews
  let versions: DataVersions
  let owner: { projectId: number; version: number }
  let readings: Reading[]
  let begun = 0
  let onSleep: () => Promise<void>
  beforeEach(async () => {
    database = await open()
    const { db } = database
    const exports = {
      enqueueExports: () => Promise.resolve({ warnings: new Map(), laneIds: [] }),
      withdrawExports: () => Promise.resolve(0),
    }
    batches = createBatchStore(db, exports)
    const clock = createManualClock()
    const store = createDataVersionStore(db)
    onSleep = () => Promise.resolve()
    versions = createDataVersions({ store, clock, maxAgeMs: 0 })
    views = createReadViews({
      store,
      versions,
      clock,
      sleep: () => onSleep(),
    })
    const project = await createProjectStore(db).insert(
      { owner: 'o', name: 'p', type: 'processor', isPublic: false },
      0,
    )
    owner = { projectId: project?.id ?? 0, version: 1 }
    readings = []
    await finish(await begin('a', 1))
  })
  afterEach(() => database.close())

  function changesOf(name: string, day: number) {
    const collector = createChangeCollector()
    collector.add(name, '1', (day + 0.5) * DAY_MICROS, day)
    return collector.changes()
  }
  /** A batch with a record of one name at noon of a day, recorded as open; its facts may be seen from now on. */
  async function begin(name: string, day: number) {
    const changes = changesOf(name, day)
    const batch = { batchId: `b${begun++}`, contentHash: '', tables: ['points'], touches: touchesOf(changes) }
    const [start] = await batches.begin(owner, [batch], LEASE)
    if (start?.state !== 'open') throw new Error('not begun')
    return { sequence: start.sequence, changes }
  }
  async function finish({ sequence, changes }: Awaited<ReturnType<typeof begin>>): Promise<void> {
    await batches.finish(
      owner,
      [{ sequence, accepted: 1, warnings: [], exports: [] }],
      { days: changes, heads: [] },
      0,
    )
  }
  const write = async (name: string, day: number) => finish(await begin(name, day))
  /** The same by one statement. */
  const computeAtOnce = (...meanwhile: readonly (() => Promise<unknown>)[]) => computeAs(true, meanwhile)
  /** A question about `a` on days 1 to 3; what happens while it is computed for the n-th time. */
  const compute = (...meanwhile: readonly (() => Promise<unknown>)[]) => computeAs(false, meanwhile)
  function computeAs(isOneStatement: boolean, meanwhile: readonly (() => Promise<unknown>)[]) {
    const question: Question<number> = {
      key: 'k',
      owner,
      scope: () => ({
        coverage: { names: ['a'], fromMicros: DAY_MICROS, toMicros: 4 * DAY_MICROS - 1 },
        signature: '',
      }),
      compute: async (_nowMs, reading) => {
        readings.push(reading)
        await meanwhile[readings.length - 1]?.()
        return readings.length
      },
      ...(isOneStatement ? { readsOnce: true as const } : {}),
    }
    return views.compute(question, true)
  }

  it('reads everything, once, when nothing is written', async () => {
    expect((await compute()).value).toBe(1)
    expect(readings).toMatchObject([{ dataVersion: 1, snapshot: null, mayReuse: true }])
  })

  it.each([
    ['of another name', () => write('b', 2)],
    ['of days beyond', () => write('a', 7)],
  ])('is not disturbed by batches %s', async (_what, disturb) => {
    await compute(disturb)
    expect(readings).toHaveLength(1)
  })

  it('leaves out a batch that is being stored', async () => {
    const batch = await begin('a', 2)
    const { basis } = await compute(() => finish(batch))
    expect(basis.dataVersion).toBe(1)
    expect(readings).toMatchObject([
      {
        dataVersion: 1,
        snapshot: {
          upTo: batch.sequence,
          except: [batch.sequence],
          rollbacks: [],
          fromMicros: 2 * DAY_MICROS,
        },
        mayReuse: true,
      },
    ])
  })

  it('reads again when a batch came meanwhile, and leaves out from that day on what comes then', async () => {
    const viewed = await compute(
      () => write('a', 2),
      () => write('a', 3),
    )
    expect(viewed).toMatchObject({ value: 2, basis: { dataVersion: 2 } })
    expect(readings[1]?.snapshot).toMatchObject({ except: [], fromMicros: 2 * DAY_MICROS })
  })

  it('reads again when a batch has begun meanwhile, though it has not ended', async () => {
    let batch: Awaited<ReturnType<typeof begin>> | undefined
    await compute(async () => {
      batch = await begin('a', 3)
    })
    expect(readings[1]?.snapshot).toMatchObject({ except: [batch?.sequence], fromMicros: 3 * DAY_MICROS })
  })

  it('reads again when late data comes before what it left out', async () => {
    await begin('a', 3)
    await compute(() => write('a', 1))
    expect(readings.map(({ snapshot }) => snapshot?.fromMicros)).toEqual([3 * DAY_MICROS, DAY_MICROS])
  })

  it('ends however much is written', async () => {
    const late = () => write('a', 1)
    await compute(
      () => write('a', 3),
      () => write('a', 2),
      late,
      late,
      late,
      late,
    )
    expect(readings.at(-1)?.snapshot?.fromMicros).toBeLessThanOrEqual(DAY_MICROS)
    expect(readings.length).toBeLessThanOrEqual(4)
  })

  it('of one statement begins when the batches that it meets have ended', async () => {
    await write('a', 9)
    const batch = await begin('a', 2)
    let looks = 0
    onSleep = () => (++looks === 3 ? finish(batch) : Promise.resolve())
    const { basis } = await computeAtOnce()
    expect(looks).toBe(3)
    expect(basis).toMatchObject({ dataVersion: 3, newData: 'outside' })
    expect(await versions.isLate(basis)).toBe(false)
  })

  it('of one statement that may have seen a part of a batch is due when that batch is whole (CA-6)', async () => {
    for (const name of ['b', 'a']) await write(name, 9)
    const patient = await begin('a', 2)
    const met = (await computeAtOnce()).basis
    readings = []
    let batch: Awaited<ReturnType<typeof begin>> | undefined
    const came = (
      await computeAtOnce(async () => {
        batch = await begin('a', 3)
      })
    ).basis
    expect(readings).toHaveLength(1)
    for (const basis of [met, came]) expect(await versions.isLate(basis)).toBe(false)
    await finish(patient)
    expect(await versions.isLate(met)).toBe(true)
    if (batch) await finish(batch)
    expect(await versions.isLate(came)).toBe(true)
  })

  it('takes what nobody knows the extent of for anything', async () => {
    await batches.begin(owner, [{ batchId: 'old', contentHash: '', tables: ['points'] }], LEASE)
    await compute()
    expect(readings[0]?.snapshot?.fromMicros).toBe(-Infinity)
  })

  it('waits for a rollback that is under way', async () => {
    const { sequence } = await batches.beginRollback(owner, { chain: '1', aboveBlock: 0 }, LEASE)
    onSleep = () => batches.forget([sequence], true)
    await compute()
    expect(readings).toMatchObject([{ dataVersion: 3, snapshot: null }])
  })

  it('reads around a rollback that does not end, as if it had', async () => {
    const { sequence } = await batches.beginRollback(owner, { chain: '1', aboveBlock: 7 }, LEASE)
    await compute()
    expect(readings).toMatchObject([
      {
        snapshot: {
          rollbacks: [{ chain: '1', aboveBlock: 7, beforeSequence: sequence }],
          fromMicros: -Infinity,
        },
      },
    ])
  })

  it('reads again when a rollback began meanwhile, and gives up when it happens each time', async () => {
    const rollBack = async () => {
      const { sequence } = await batches.beginRollback(owner, { chain: '1', aboveBlock: 7 }, LEASE)
      await batches.forget([sequence], true)
    }
    expect((await compute(rollBack)).value).toBe(2)
    readings = []
    await expect(compute(...Array.from({ length: 8 }, () => rollBack))).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})
