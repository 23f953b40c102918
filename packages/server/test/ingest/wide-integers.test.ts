import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { jsonBatch, startIngestFixture, startInstance, userRows } from './instance.ts'

const MOST = String(2n ** 256n - 1n)
const event = (value: unknown, name = 'Approval') => ({
  type: 'event',
  name,
  attributes: { value },
  chain: '1',
  blockNumber: 1,
  timestampMicros: 1_700_000_000_000_000,
})
const int = (digits: string) => ({ $int: digits })

const DIED = 'the instance died here'

/** An engine that is not reached any more by statements of this form. */
function failingAt(engine: FactEngine, statement: RegExp): FactEngine {
  const check = (sql: string): void => {
    if (statement.test(sql)) throw new ServiceError('unavailable', DIED)
  }
  return {
    ...engine,
    rows: async (sql, options) => {
      check(sql)
      return engine.rows(sql, options)
    },
    command: async (sql, options) => {
      check(sql)
      await engine.command(sql, options)
    },
  }
}

describe('integers of 256 bits', () => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(openSqlite))
  })

  afterAll(() => stop())

  const values = (name = 'Approval') =>
    userRows<{ v: string }>(
      facts.engine,
      project,
      `select toString(value) as v from ${name} order by value`,
    ).then((rows) => rows.map(({ v }) => v))
  const store = (...records: object[]) => ingest.accept(project, jsonBatch(records))

  it('without sign widen an attribute that held smaller ones, and SQL computes with them (IN-6)', async () => {
    await store(event(int('5')), event(12))
    await store(event(int(MOST)), event(int(String(2n ** 255n))))
    await store(event(7), event({ $decimal: '8' }), event(int('-0')))
    expect(await values()).toEqual(['0', '5', '7', '8', '12', String(2n ** 255n), MOST])
    expect(
      await userRows(
        facts.engine,
        project,
        `select toString(intDiv(max(value), 2)) as m, toTypeName(any(value)) as t from Approval where value > toUInt256('${2n ** 255n}')`,
      ),
    ).toEqual([{ m: String(2n ** 255n - 1n), t: 'Nullable(UInt256)' }])
  })

  it('may come first, and several to a batch with smaller ones (IN-6)', async () => {
    await store(event(int('1'), 'First'), event(int(MOST), 'First'), event(int('2'), 'First'))
    expect(await values('First')).toEqual(['1', '2', MOST])
  })

  it('are refused where the attribute holds negative ones, which stay as they are (IN-2)', async () => {
    const least = String(-(2n ** 255n))
    await store(event(int(least), 'Signed'))
    await expect(store(event(int(MOST), 'Signed'))).rejects.toThrow(
      'attributes.value of Signed holds negative integers',
    )
    // The same found out in the table, by an instance that has not seen them come.
    const other = startInstance({ engine: facts.engine, database, isSoleInstance: false })
    await expect(other.accept(project, jsonBatch([event(int(MOST), 'Signed')]))).rejects.toThrow(
      'attributes.value of Signed holds negative integers',
    )
    await store(event(int('-1'), 'Signed'))
    expect(await values('Signed')).toEqual([least, '-1'])
  })

  it('leave no room for negative ones afterwards, nor in the same batch (IN-2)', async () => {
    await store(event(int(MOST), 'Unsigned'))
    await expect(store(event(int('-1'), 'Unsigned'))).rejects.toThrow(
      'attributes.value is negative, but the attribute value of the event log Unsigned holds integers beyond 2^255 - 1',
    )
    await expect(store(event(int('-1'), 'Mixed'), event(int(MOST), 'Mixed'))).rejects.toThrow('is negative')
    expect(await values('Unsigned')).toEqual([MOST])
  })

  it('never turn into others when an instance does not know yet that the sign is gone (IN-2, IN-6)', async () => {
    const stale = startInstance({ engine: facts.engine, database, isSoleInstance: false })
    await stale.accept(project, jsonBatch([event(int('1'), 'Raced')]))
    await store(event(int(MOST), 'Raced'))
    const negative = jsonBatch([event(int('-1'), 'Raced')], 'negative')
    await expect(stale.accept(project, negative)).rejects.toMatchObject({ code: 'internal' })
    await expect(stale.accept(project, negative)).rejects.toThrow('is negative')
    await stale.accept(project, jsonBatch([event(int(MOST), 'Raced')]))
    expect(await values('Raced')).toEqual(['1', MOST, MOST])
  })

  it.each([
    { step: 'looked through', fails: /from system\.processes/ },
    { step: 'rewritten', fails: /modify column/ },
    { step: 'freed of its guard', fails: /drop constraint/ },
  ])(
    'leave nothing behind when the instance dies before the column is $step (IN-2, IN-6)',
    async ({ step, fails }) => {
      const [plain, signed] = [`Plain_${step.length}`, `Signed_${step.length}`]
      const guards = () =>
        facts.engine.rows(
          `select name from system.tables where database = 'millrace_p${project.id}_v1_facts' and create_table_query like '%$unsigned%'`,
        )
      const before = startInstance({ engine: facts.engine, database })
      await before.accept(project, jsonBatch([event(int('5'), plain), event(int('-5'), signed)]))
      const dying = startInstance({ engine: failingAt(facts.engine, fails), database })
      // It knows the tables before anything is amiss.
      await dying.accept(project, jsonBatch([event(int('7'), plain)]))
      await expect(dying.accept(project, jsonBatch([event(int(MOST), plain)]))).rejects.toThrow(DIED)
      // Another one, whose column got a negative integer just before the constraint.
      await facts.engine.command(
        `alter table millrace_p${project.id}_v1_facts.event_${signed} add constraint \`$unsigned_value\` check value is null or value >= 0`,
      )
      expect(await guards()).toHaveLength(2)
      // One that was there all the time, and one that is started now.
      const negative = jsonBatch([event(int('-6'), signed)], step)
      await before.accept(project, negative).catch(() => undefined)
      await before.accept(project, negative)
      const after = startInstance({ engine: facts.engine, database })
      await after.accept(project, jsonBatch([event(int('8'), plain)]))
      expect(await guards()).toEqual([])
      expect(await values(plain)).toEqual(['5', '7', '8'])
      expect(await values(signed)).toEqual(['-6', '-5'])
      await expect(store(event(int(MOST), signed))).rejects.toThrow('holds negative integers')
      await store(event(int(MOST), plain))
      expect(await values(plain)).toEqual(['5', '7', '8', MOST])
    },
  )

  it('beyond 256 bits are refused with the range', async () => {
    await expect(store(event(int(String(2n ** 256n))))).rejects.toThrow('is beyond 256 bits')
    await expect(store(event(int(String(-(2n ** 255n) - 1n))))).rejects.toThrow('from -2^255 to 2^256-1')
  })
})
