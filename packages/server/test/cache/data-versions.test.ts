import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createChangeCollector } from '../../src/cache/data-change.ts'
import type { Coverage, CurrentVersion, DataVersionStore } from '../../src/cache/data-version-store.ts'
import { createDataVersions, type Basis } from '../../src/cache/data-versions.ts'
import { createDataVersionStore } from '../../src/database/data-version-store.ts'
import { createNameChangesStore } from '../../src/database/name-changes-store.ts'
import { raiseDataVersions, raiseForRollback, raiseWhole } from '../../src/database/raise-data-versions.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock } from '../support/manual-clock.ts'

const DAY_MICROS = 86_400_000_000
type Sent = readonly [name: string, day: number, blockNumber?: number, chain?: string]

describe.each(controlDatabases)('data versions on $name', ({ open }) => {
  let database: TestDatabase
  let store: DataVersionStore
  let owner: { projectId: number; version: number }
  beforeEach(async () => {
    database = await open()
    store = createDataVersionStore(database.db)
    const project = await createProjectStore(database.db).insert(
      { owner: 'o', name: 'p', type: 'processor', isPublic: false },
      0,
    )
    owner = { projectId: project?.id ?? 0, version: 1 }
  })
  afterEach(() => database.close())

  /** Raises for records of days, counted with fractions. */
  async function ingest(...records: readonly Sent[]): Promise<void> {
    const collector = createChangeCollector()
    for (const [name, day, block = 0, chain = '1'] of records)
      collector.add(name, chain, day * DAY_MICROS, block)
    await database.db.transaction().execute((tx) => raiseDataVersions(tx, owner, collector.changes()))
  }
  const covered = (names: readonly string[] | null, from?: number, to?: number) => {
    const micros = (day: number | undefined) => (day === undefined ? null : day * DAY_MICROS)
    const coverage: Coverage = { names, fromMicros: micros(from), toMicros: micros(to) }
    return store.covered(owner, coverage)
  }

  it('counts every change, and tells late data from new data at the open end (CA-6)', async () => {
    expect(await store.current(owner)).toEqual({ latest: 0, late: 0, isDeleted: false })
    await ingest(['a', 10])
    expect(await store.current(owner)).toEqual({ latest: 1, late: 1, isDeleted: false })
    await ingest(['a', 10.5])
    expect(await store.current(owner)).toEqual({ latest: 2, late: 1, isDeleted: false })
    await ingest(['a', 10.5], ['a', 11])
    expect(await store.current(owner)).toEqual({ latest: 3, late: 1, isDeleted: false })
    await ingest(['a', 10.9], ['a', 12])
    expect(await store.current(owner)).toEqual({ latest: 4, late: 4, isDeleted: false })
  })

  it('touches exactly the names and days of the data (CA-6)', async () => {
    await ingest(['a', 10], ['b', 10])
    await ingest(['a', 12])
    await ingest(['a', 11])
    expect(await covered(['a'])).toEqual({ latest: 3, late: 3 })
    expect(await covered(['a'], 0, 10)).toEqual({ latest: 1, late: 1 })
    expect(await covered(['a'], 12, 13)).toEqual({ latest: 2, late: 0 })
    expect(await covered(['a'], 11.9, 12)).toEqual({ latest: 3, late: 3 })
    expect(await covered(['b'])).toEqual({ latest: 1, late: 1 })
    expect(await covered(['c'])).toEqual({ latest: 0, late: 0 })
    expect(await covered([])).toEqual({ latest: 0, late: 0 })
    expect(await covered(null)).toEqual({ latest: 3, late: 3 })
  })

  it('lets each chain have its own open end, of which the least advanced counts', async () => {
    await ingest(['a', 10, 5, '1'], ['a', 8, 5, '2'])
    await ingest(['a', 9, 6, '2'])
    expect(await store.current(owner)).toEqual({ latest: 2, late: 1, isDeleted: false })
    expect(await store.frontierMicros(owner, { names: ['a'], fromMicros: 0, toMicros: 0 })).toBe(
      9 * DAY_MICROS,
    )
    expect(await store.frontierMicros(owner, { names: ['x'], fromMicros: 0, toMicros: 0 })).toBe(null)
  })

  it('answers for the version and the name that it is asked about, whichever was before (CA-6)', async () => {
    const other = { ...owner, version: 2 }
    const changes = createNameChangesStore(database.db)
    await ingest(['a', 10, 7], ['b', 12, 7])
    await ingest(['b', 14, 9])
    for (let round = 0; round < 2; round += 1) {
      const frontier = (names: readonly string[] | null) =>
        store.frontierMicros(owner, { names, fromMicros: null, toMicros: null })
      expect(await frontier(['a'])).toBe(10 * DAY_MICROS)
      expect(await frontier(['b'])).toBe(14 * DAY_MICROS)
      expect(await frontier(['b', 'a'])).toBe(10 * DAY_MICROS)
      expect(await frontier(null)).toBe(10 * DAY_MICROS)
      expect(await changes.latest(owner)).toBe(2)
      expect(await changes.latest(other)).toBe(0)
      expect(await store.current(other)).toEqual({ latest: 0, late: 0, isDeleted: false })
      expect(await store.current(owner)).toEqual({ latest: 2, late: 1, isDeleted: false })
      expect(await store.view(owner)).toMatchObject({ latest: 2, heights: { 1: 9 } })
      expect(await store.view(other)).toMatchObject({ latest: 0, heights: {} })
    }
  })

  it('raises the days of a chain that hold blocks above the one rolled back to (IN-3, CA-6)', async () => {
    await ingest(['a', 10, 100], ['a', 11, 200], ['b', 11, 150], ['a', 11, 900, '2'])
    await database.db
      .transaction()
      .execute((tx) => raiseForRollback(tx, owner, { chain: '1', aboveBlock: 150 }))
    expect(await covered(['a'], 10, 10)).toEqual({ latest: 1, late: 1 })
    expect(await covered(['a'], 11, 11)).toEqual({ latest: 2, late: 2 })
    expect(await covered(['b'])).toEqual({ latest: 1, late: 1 })
    expect(await store.current(owner)).toEqual({ latest: 2, late: 2, isDeleted: false })
  })

  it('raises everything when nobody knows what was touched', async () => {
    await ingest(['a', 10])
    await database.db.transaction().execute((tx) => raiseWhole(tx, owner))
    expect(await covered(['a'], 3, 4)).toEqual({ latest: 2, late: 2 })
    expect(await covered([])).toEqual({ latest: 2, late: 2 })
  })

  it('goes with its project', async () => {
    await ingest(['a', 10])
    await database.db.deleteFrom('project').where('id', '=', owner.projectId).execute()
    expect(await store.current(owner)).toEqual({ latest: 0, late: 0, isDeleted: false })
    expect(await covered(['a'])).toEqual({ latest: 0, late: 0 })
  })
})

describe('what is known of an answer without a look', () => {
  const OWNER = { projectId: 1, version: 1 }
  const BASIS: Basis = {
    owner: OWNER,
    coverage: { names: ['a'], fromMicros: null, toMicros: null },
    signature: '',
    dataVersion: 5,
    heights: {},
    newData: 'wait',
  }

  /** Looks that end when they are told to. */
  function begin() {
    const clock = createManualClock()
    const looks: ((version: CurrentVersion) => void)[] = []
    const store = {
      current: () => new Promise<CurrentVersion>((resolve) => looks.push(resolve)),
      covered: () => Promise.resolve({ latest: 6, late: 6 }),
      changedDays: () => Promise.resolve([]),
      frontierMicros: () => Promise.resolve(null),
      view: () => Promise.reject(new Error('is not asked for')),
    }
    const versions = createDataVersions({ store, clock, maxAgeMs: 100 })
    const end = async (late: number, isDeleted = false) => {
      looks.shift()?.({ latest: late, late, isDeleted })
      await setImmediate()
    }
    return { clock, looks, versions, end }
  }

  it('is nothing before the first look has ended, and nothing of a look that is too old (CA-6)', async () => {
    const { clock, versions, end } = begin()
    expect(versions.isKnownToHold(BASIS)).toBe(false)
    const isLate = versions.isLate(BASIS)
    expect(versions.isKnownToHold(BASIS)).toBe(false)
    clock.advance(40)
    await end(5)
    expect(await isLate).toBe(false)
    clock.advance(59)
    expect(versions.isKnownToHold(BASIS)).toBe(true)
    clock.advance(1)
    expect(versions.isKnownToHold(BASIS)).toBe(false)
  })

  it('is looked at ahead for those who ask often, once at a time', async () => {
    const { clock, looks, versions, end } = begin()
    void versions.isLate(BASIS)
    await end(5)
    clock.advance(49)
    versions.isKnownToHold(BASIS)
    expect(looks).toHaveLength(0)
    clock.advance(1)
    for (let i = 0; i < 3; i += 1) expect(versions.isKnownToHold(BASIS)).toBe(true)
    expect(looks).toHaveLength(1)
    await end(5)
    clock.advance(99)
    expect(versions.isKnownToHold(BASIS)).toBe(true)
  })

  it('is nothing once data is late, the version deleted, or this process has changed something (CA-6)', async () => {
    for (const [late, isDeleted] of [
      [6, false],
      [5, true],
    ] as const) {
      const { versions, end } = begin()
      void versions.isDeleted(BASIS)
      await end(late, isDeleted)
      expect(versions.isKnownToHold(BASIS)).toBe(false)
    }
    const { versions, end } = begin()
    void versions.isLate(BASIS)
    await end(5)
    expect(versions.isKnownToHold(BASIS)).toBe(true)
    versions.noteChanged(OWNER)
    expect(versions.isKnownToHold(BASIS)).toBe(false)
  })

  it('is nothing of a look that began before this process has changed something (CA-6)', async () => {
    const { versions, end } = begin()
    void versions.isLate(BASIS)
    versions.noteChanged(OWNER)
    await end(5)
    expect(versions.isKnownToHold(BASIS)).toBe(false)
  })
})
