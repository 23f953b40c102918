import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import {
  createTestProject,
  jsonBatch,
  startIngestFixture,
  startInstance,
  textBatch,
  userRows,
} from './instance.ts'

const T = 1_700_000_000_000_000
const place = { chain: '1', blockNumber: 100, timestampMicros: T }

describe.each(controlDatabases)('ingest with $name', ({ name, open }) => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(open))
  })

  afterAll(() => stop())

  const rows = <Row = Record<string, unknown>>(sql: string) => userRows<Row>(facts.engine, project, sql)

  it('stores counters and gauges with their place and labels (IN-1)', async () => {
    const answer = await ingest.accept(
      project,
      jsonBatch([
        {
          type: 'counter',
          name: 'mint',
          value: 2,
          labels: { kind: 'a', empty: '' },
          ...place,
          contract: 'LBTC',
          address: '0xAb',
        },
        {
          type: 'gauge',
          name: 'price',
          value: { $decimal: '1.5' },
          chain: '1',
          block_number: '7',
          time: '2026-01-31T12:00:00.000001+02:00',
        },
      ]),
    )
    expect(answer).toMatchObject({ version: 1, accepted: 2, isRepeated: false, warnings: [] })
    expect(await rows('select * from mint')).toEqual([
      {
        timestamp: '2023-11-14 22:13:20.000000',
        value: 2,
        exact: '',
        chain: '1',
        block_number: '100',
        contract_name: 'LBTC',
        contract_address: '0xAb',
        labels: { chain: '1', contract_address: '0xAb', contract_name: 'LBTC', kind: 'a' },
      },
    ])
    expect(await rows('select timestamp, value, block_number from price')).toEqual([
      { timestamp: '2026-01-31 10:00:00.000001', value: 1.5, block_number: '7' },
    ])
  })

  it('stores events with every kind of attribute, losing no digit, and grows the log as attributes appear (IN-6)', async () => {
    const max = String(2n ** 255n - 1n)
    const min = String(-(2n ** 255n))
    const decimal = `-${'9'.repeat(46)}.${'123456789'.repeat(3)}012`
    await ingest.accept(
      project,
      jsonBatch([{ type: 'event', name: 'Transfer', ...place, attributes: { text: 'a' } }]),
    )
    await ingest.accept(
      project,
      textBatch(
        JSON.stringify({
          type: 'event',
          name: 'Transfer',
          ...place,
          blockNumber: 101,
          transactionHash: '0xff',
          log_index: 3,
          distinctId: 'u',
          severity: 'INFO',
          message: 'm',
          attributes: {
            NESTED: 0,
            text: 'nul \u0000, emoji 😀, quote "\'`\\',
            n: 0.1,
            yes: true,
            big: { $int: max },
            small: { $int: min },
            dec: { $decimal: decimal },
            at: { $time: '2026-01-01T00:00:00.123456Z' },
            none: null,
          },
        }).replace('"NESTED":0', '"nested":{"b":1.10,"a":[9007199254740993,null]}'),
        null,
        'application/x-ndjson',
      ),
    )
    const found = await rows('select * from Transfer order by block_number')
    expect(found).toEqual([
      expect.objectContaining({
        text: 'a',
        nested: null,
        n: null,
        yes: null,
        big: null,
        dec: null,
        at: null,
      }),
      {
        timestamp: '2023-11-14 22:13:20.000000',
        block_number: '101',
        block_hash: '',
        transaction_hash: '0xff',
        transaction_index: 0,
        log_index: 3,
        chain: '1',
        address: '',
        contract: '',
        distinct_id: 'u',
        severity: 'INFO',
        message: 'm',
        text: 'nul \u0000, emoji 😀, quote "\'`\\',
        nested: '{"b":1.10,"a":[9007199254740993,null]}',
        n: 0.1,
        yes: true,
        big: max,
        small: min,
        dec: decimal,
        at: '2026-01-01 00:00:00.123456',
      },
    ])
  })

  it('names attribute, old and new type when a type changed, and stores nothing of the batch (IN-2)', async () => {
    await ingest.accept(
      project,
      jsonBatch([{ type: 'event', name: 'Typed', ...place, attributes: { a: 'text' } }]),
    )
    const refused = ingest.accept(
      project,
      jsonBatch([
        { type: 'gauge', name: 'beside', value: 1, ...place },
        { type: 'event', name: 'Typed', ...place, attributes: { a: 1 } },
      ]),
    )
    await expect(refused).rejects.toThrow(
      'records[1]: attributes.a is number, but the attribute a of the event log Typed is string',
    )
    expect(await rows('select count() as n from Typed')).toEqual([{ n: '1' }])
    expect(
      await rows(
        `select name from system.tables where database = 'millrace_p${project.id}_v1' and name = 'beside'`,
      ),
    ).toEqual([])
  })

  it('takes numbers into exact columns where nothing is lost', async () => {
    await ingest.accept(
      project,
      jsonBatch([{ type: 'event', name: 'Mixed', ...place, attributes: { a: { $int: '1' } } }]),
    )
    await ingest.accept(
      project,
      jsonBatch([{ type: 'event', name: 'Mixed', ...place, attributes: { a: 2 } }]),
    )
    await expect(
      ingest.accept(project, jsonBatch([{ type: 'event', name: 'Mixed', ...place, attributes: { a: 2.5 } }])),
    ).rejects.toThrow('attributes.a is number, but the attribute a of the event log Mixed is int')
    expect(await rows('select a from Mixed order by a')).toEqual([{ a: '1' }, { a: '2' }])
  })

  it('answers a repeated batch id as before and stores nothing twice (IN-2)', async () => {
    const batch = jsonBatch([{ type: 'counter', name: 'repeated', value: 1, ...place }], 'b-1')
    const first = await ingest.accept(project, batch)
    const second = await ingest.accept(project, batch)
    expect(second).toEqual({ ...first, isRepeated: true })
    const other = jsonBatch([{ type: 'counter', name: 'repeated', value: 2, ...place }], 'b-1')
    await expect(ingest.accept(project, other)).rejects.toMatchObject({ code: 'already_exists' })
    expect(await rows('select sum(value) as s from repeated')).toEqual([{ s: 1 }])
  })

  it.each(['blake2b512', 'sha256'])(
    'knows a repeated batch id by the hash that earlier versions kept, %s (IN-2)',
    async (algorithm) => {
      const batchId = `kept-${algorithm}`
      const batch = jsonBatch([{ type: 'counter', name: 'kept', value: 1, ...place }], batchId)
      const first = await ingest.accept(project, batch)
      const content_hash = hash(algorithm, batch.body).slice(0, 64)
      await database.db
        .updateTable('ingest_batch')
        .set({ content_hash })
        .where('batch_id', '=', batchId)
        .execute()
      expect(await ingest.accept(project, batch)).toEqual({ ...first, isRepeated: true })
      const other = jsonBatch([{ type: 'counter', name: 'kept', value: 2, ...place }], batchId)
      await expect(ingest.accept(project, other)).rejects.toMatchObject({ code: 'already_exists' })
    },
  )

  it('joins concurrent batches of one id (IN-2)', async () => {
    const batch = jsonBatch([{ type: 'counter', name: 'joined', value: 1, ...place }], 'b-2')
    const answers = await Promise.all(Array.from({ length: 10 }, () => ingest.accept(project, batch)))
    expect(answers.filter((answer) => !answer.isRepeated)).toHaveLength(1)
    expect(await rows('select sum(value) as s from joined')).toEqual([{ s: 1 }])
  })

  it('commits concurrent batches together, each whole (IN-2)', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) =>
        ingest.accept(
          project,
          jsonBatch([
            { type: 'counter', name: 'grouped', value: 1, labels: { i: String(i % 7) }, ...place },
            { type: 'event', name: 'Grouped', ...place, attributes: { v: i === 33 ? 'wrong' : i } },
          ]),
        ),
      ),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(await rows('select sum(value) as s, uniqExact(labels) as l from grouped')).toEqual([
      { s: 59, l: '7' },
    ])
    expect(await rows('select count() as n, sum(v) as s from Grouped')).toEqual([{ n: '59', s: 1770 - 33 }])
  })

  it('refuses a metric that is used as a counter and as a gauge, and a name that is a metric and a log', async () => {
    await ingest.accept(project, jsonBatch([{ type: 'counter', name: 'one_kind', value: 1, ...place }]))
    await expect(
      ingest.accept(project, jsonBatch([{ type: 'gauge', name: 'one_kind', value: 1, ...place }])),
    ).rejects.toThrow('the metric one_kind is a counter; it cannot be a gauge too')
    await expect(
      ingest.accept(project, jsonBatch([{ type: 'event', name: 'one_kind', ...place }])),
    ).rejects.toThrow('records[0]: name one_kind is a metric; an event log of the project cannot have it too')
    await expect(
      ingest.accept(project, jsonBatch([{ type: 'gauge', name: 'Typed', value: 1, ...place }])),
    ).rejects.toThrow('records[0]: name Typed is an event log; a metric of the project cannot have it too')
  })

  it('is safe with hostile names (IN-5)', async () => {
    const names = [
      `a'b"c\`d;--`,
      'DROP TABLE x',
      'select',
      'Übertrag',
      '転送',
      '\\',
      '1',
      'a'.repeat(512),
      '語'.repeat(400),
    ]
    for (const [i, hostile] of names.entries()) {
      await ingest.accept(
        project,
        jsonBatch([
          {
            type: 'gauge',
            name: `m${hostile}`.slice(0, 512),
            labels: { [`l${hostile}`.slice(0, 100)]: hostile },
            value: i,
            ...place,
          },
          {
            type: 'event',
            name: `e${hostile}`.slice(0, 512),
            ...place,
            attributes: { [`x${hostile}`.slice(0, 200)]: hostile, [`y${i}`]: `\\'"\`` },
          },
        ]),
      )
    }
    expect(await rows("select y2 from eselect where xselect = 'select'")).toEqual([{ y2: `\\'"\`` }])
    expect(await rows('select value, labels from `m転送`')).toEqual([
      { value: 4, labels: { chain: '1', l転送: '転送' } },
    ])
    await expect(
      ingest.accept(project, jsonBatch([{ type: 'gauge', name: 'a'.repeat(10_000), value: 1, ...place }])),
    ).rejects.toThrow('records[0]: name has more than 512 characters')
  })

  it('limits new series but never breaks existing ones (IN-5)', async () => {
    const other = await createTestProject(database)
    const limited = startInstance({
      engine: facts.engine,
      database,
      limits: { maxSeriesPerMetric: 2, maxMetrics: 1, maxEventLogs: 1 },
    })
    const sample = (label: string, metric = 'm') => ({
      type: 'gauge',
      name: metric,
      value: 1,
      labels: { label },
      ...place,
    })
    await limited.accept(other, jsonBatch([sample('a'), sample('b')]))
    await expect(limited.accept(other, jsonBatch([sample('c')]))).rejects.toThrow(
      'records[0]: labels would give the metric m more than 2 series',
    )
    await expect(limited.accept(other, jsonBatch([sample('a', 'n')]))).rejects.toThrow(
      'records[0]: name n would be one more than the 1 metrics that a project has at most',
    )
    const restarted = startInstance({ engine: facts.engine, database, limits: { maxSeriesPerMetric: 2 } })
    await restarted.accept(other, jsonBatch([sample('a'), sample('b')]))
    await expect(restarted.accept(other, jsonBatch([sample('c')]))).rejects.toThrow('more than 2 series')
  })

  it('stores a batch that reaches over more months than one insert may (IN-2)', async () => {
    const samples = Array.from({ length: 150 }, (_, month) => ({
      type: 'counter',
      name: 'old',
      value: 1,
      timestampMicros: Date.UTC(2010, month, 15) * 1000,
    }))
    await ingest.accept(project, jsonBatch(samples))
    expect(await rows('select sum(value) as s from old')).toEqual([{ s: 150 }])
  })

  it('forwards the payload of an export byte for byte (DL-1)', async () => {
    const data = '{"z":1.10,"a":9007199254740993,"z":"\\u0000é😀", "n":[ 1e2 ]}'
    const answer = await ingest.accept(
      project,
      textBatch(
        `{"records":[{"type":"export","name":"ex","channel":"ch","chain":"1","blockNumber":5,"timestampMicros":${T},"data": ${data} }]}`,
      ),
    )
    expect(answer.warnings).toEqual([expect.stringContaining('channel "ch" has no url yet')])
    const [message] = await database.db.selectFrom('webhook_message').select('body').execute()
    expect(Buffer.from(message?.body ?? []).toString()).toContain(`"data":${data}}`)
  })

  it('remembers a batch id until it expires', async () => {
    const batch = jsonBatch([{ type: 'counter', name: 'expiring', value: 1, ...place }], 'b-9')
    await ingest.accept(project, batch)
    expect(await ingest.expire(3_600_000)).toBe(0)
    expect(await ingest.accept(project, batch)).toMatchObject({ isRepeated: true })
  })

  it(`leaves nothing unfinished (${name})`, async () => {
    const open = await database.db
      .selectFrom('ingest_batch')
      .selectAll()
      .where('state', '!=', 'done')
      .execute()
    expect(open).toEqual([])
  })
})
