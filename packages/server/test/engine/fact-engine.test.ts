import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { failure } from '../support/failure.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'

const DATABASE = 'millrace_p901_v1_facts'

let test: TestEngine
let engine: FactEngine

beforeAll(async () => {
  test = await startTestEngine()
  engine = test.engine
  await engine.command(`drop database if exists ${DATABASE}`)
  await engine.command(`create database ${DATABASE}`)
  await engine.command(
    `create table ${DATABASE}.things (id UInt64, name String, big UInt256, low Int256, exact Decimal(76, 30))
     engine = MergeTree order by id settings non_replicated_deduplication_window = 100`,
  )
})

afterAll(() => test.stop())

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const rowsOf = (rows: readonly object[]): Uint8Array =>
  Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))

async function running(marker: string): Promise<number> {
  const [row] = await engine.rows<{ n: string }>(
    `select count() as n from system.processes where query like '%${marker}%' and query not like '%system.processes%'`,
  )
  return Number(row?.n)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}

describe('statements', () => {
  it('answers rows with 64-bit integers and decimals as text (SQ-4)', async () => {
    const rows = await engine.rows(
      'select 18446744073709551615 as a, toDecimal64(1.5, 2) as b, nan as c, 7 as d',
    )
    expect(rows).toEqual([{ a: '18446744073709551615', b: '1.5', c: null, d: 7 }])
  })

  it('binds parameters of every kind in the engine, and forgets them', async () => {
    const odd = `it's \\ a "test"\n\twith 'quotes' and { braces } and ünïcødé 😀 a+b=c&d;50%20#e?`
    const rows = await engine.rows(
      'select {text:String} as text, {list:Array(String)} as list, {n:UInt64} as n',
      {
        parameters: { text: odd, list: ["a'b", 'c\\d'], n: 5 },
      },
    )
    expect(rows).toEqual([{ text: odd, list: ["a'b", 'c\\d'], n: '5' }])
    const forgotten = await Promise.all(
      Array.from({ length: 8 }, () => failure(engine.rows('select {text:String} as text'))),
    )
    expect(forgotten.map((error) => error.code)).toEqual(Array(8).fill('invalid_argument'))
  })

  it('keeps settings and database to their own statement', async () => {
    const name = { name: 'max_block_size' }
    const sql = 'select value, currentDatabase() as db from system.settings where name = {name:String}'
    const [before] = await engine.rows<{ value: string; db: string }>(sql, { parameters: name })
    const own = { database: DATABASE, settings: { max_block_size: 1234 }, parameters: name }
    expect(await engine.rows(sql, own)).toEqual([{ value: '1234', db: DATABASE }])
    const after = await Promise.all(Array.from({ length: 8 }, () => engine.rows(sql, { parameters: name })))
    for (const rows of after) expect(rows).toEqual([before])
  })

  it('refuses a second statement', async () => {
    expect((await failure(engine.rows('select 1; select 2'))).code).toBe('invalid_argument')
  })

  it('streams a large result whole', async () => {
    const text = await textOf(await engine.stream('select number from numbers(500000)', 'TSV'))
    expect(text.length).toBe(3_388_890)
    expect(text.endsWith('\n499999\n')).toBe(true)
  })

  it.each([
    ['JSONCompactEachRowWithNamesAndTypes', 2],
    ['TSVWithNames', 1],
    ['TSV', 0],
  ])('writes the header of %s once, however many chunks a result has', async (format, headerLines) => {
    const sql = 'select number from numbers(100000)'
    const text = await textOf(await engine.stream(sql, format, { settings: { max_block_size: 1000 } }))
    expect(text.trimEnd().split('\n')).toHaveLength(100_000 + headerLines)
    expect(text.split('number')).toHaveLength(headerLines === 0 ? 1 : 2)
    const nothing = await textOf(await engine.stream('select 1 as one where 0', format))
    expect(nothing.split('\n').filter((line) => line !== '')).toHaveLength(headerLines)
  })

  it('writes a format that is more than lines as one whole', async () => {
    const sql = 'select number from numbers(50000)'
    const text = await textOf(await engine.stream(sql, 'JSON', { settings: { max_block_size: 1000 } }))
    expect((JSON.parse(text) as { rows: number }).rows).toBe(50_000)
  })

  it('runs more statements than it has sessions, side by side', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        engine.rows<{ n: number }>(`select ${n} as n, sum(number) from numbers(100000)`),
      ),
    )
    expect(answers.map(([row]) => row?.n)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  it('serves others while a statement computes a scalar sub-query during its analysis', async () => {
    const stop = new AbortController()
    const slow = failure(
      engine.rows('select (select sum(sipHash64(number)) from numbers(30000000000)) as x', {
        signal: stop.signal,
      }),
    )
    for (let n = 0; n < 5; n++) await engine.rows('select 1')
    stop.abort()
    expect((await slow).code).toBe('cancelled')
  })
})

describe('inserts', () => {
  it('loses no digit, NUL or character on the way in and out (IN-6)', async () => {
    const row = {
      id: '18446744073709551615',
      name: 'a\0b "quoted" \\ ünï 🎉 \u2028',
      big: (2n ** 256n - 1n).toString(),
      low: (-(2n ** 255n)).toString(),
      exact: `-1234567890123456789012345678901234567890.123456789012345678901234567891`,
    }
    await engine.insert({ database: DATABASE, table: 'things', format: 'JSONEachRow', rows: rowsOf([row]) })
    const found = await engine.rows(`select * from ${DATABASE}.things where id = 18446744073709551615`)
    expect(found).toEqual([row])
  })

  it('takes binary rows, of the columns named', async () => {
    const id = Buffer.alloc(8)
    id.writeBigUInt64LE(77n)
    const rows = Buffer.concat([id, Buffer.from([3, 0xff, 0, 10])])
    await engine.insert({
      database: DATABASE,
      table: 'things',
      columns: ['id', 'name'],
      format: 'RowBinary',
      rows,
    })
    const found = await engine.rows(`select hex(name) as name from ${DATABASE}.things where id = 77`)
    expect(found).toEqual([{ name: 'FF000A' }])
  })

  it('takes binary rows whatever they begin and end with', async () => {
    const bytes = [0, 9, 10, 11, 13, 32, 39, 42, 45, 47, 59, 92, 255]
    for (const byte of bytes) {
      const rows = Buffer.from([byte, 1, 0, 0, 0, 0, 0, 79, 1, byte])
      const insert = { database: DATABASE, table: 'things', columns: ['id', 'name'], rows } as const
      await engine.insert({ ...insert, format: 'RowBinary' })
    }
    const found = await engine.rows(
      `select id % 256 as first, hex(name) as name from ${DATABASE}.things where bitShiftRight(id, 56) = 79 order by id`,
    )
    const hex = (byte: number) => byte.toString(16).padStart(2, '0').toUpperCase()
    expect(found).toEqual(bytes.map((byte) => ({ first: byte, name: hex(byte) })))
  })

  it('takes every byte of binary rows, two line feeds included', async () => {
    const name = Buffer.from('a\n\nb;\0\n\n')
    const rows = Buffer.concat([Buffer.from([78, 0, 0, 0, 0, 0, 0, 0, name.length]), name])
    const insert = {
      database: DATABASE,
      table: 'things',
      columns: ['id', 'name'],
      format: 'RowBinary',
      rows: Buffer.concat([rows, rows]),
      deduplicationToken: 'binary',
    } as const
    await engine.insert(insert)
    await engine.insert(insert)
    const found = await engine.rows(`select hex(name) as name from ${DATABASE}.things where id = 78`)
    expect(found).toEqual([
      { name: name.toString('hex').toUpperCase() },
      { name: name.toString('hex').toUpperCase() },
    ])
  })

  it('changes nothing when bytes with the same token come again (IN-2)', async () => {
    const insert = {
      database: DATABASE,
      table: 'things',
      format: 'JSONEachRow',
      rows: rowsOf([{ id: 5, name: 'once' }]),
      deduplicationToken: 'batch-1',
    } as const
    await engine.insert(insert)
    await engine.insert(insert)
    const found = await engine.rows(`select count() as n from ${DATABASE}.things where name = 'once'`)
    expect(found).toEqual([{ n: '1' }])
  })

  it('takes rows that stand in the statement', async () => {
    await engine.command(`insert into ${DATABASE}.things (id, name) values (8, 'inline'), (9, 'inline')`)
    await engine.command(
      `insert into ${DATABASE}.things (id, name) format JSONEachRow {"id": 10, "name": "inline"}`,
    )
    const found = await engine.rows(`select count() as n from ${DATABASE}.things where name = 'inline'`)
    expect(found).toEqual([{ n: '3' }])
  })

  it('refuses rows that do not parse, and keeps none of them', async () => {
    const rows = Buffer.from('{"id":1,"name":"half"}\n{"id":')
    const error = await failure(
      engine.insert({ database: DATABASE, table: 'things', format: 'JSONEachRow', rows }),
    )
    expect(error.code).toBe('invalid_argument')
    expect(await engine.rows(`select count() as n from ${DATABASE}.things where name = 'half'`)).toEqual([
      { n: '0' },
    ])
  })
})

describe('failures', () => {
  it('reports an unknown table with a message freed of internal names (ER-4)', async () => {
    const error = await failure(engine.rows('select * from nope', { database: DATABASE }))
    expect(error.code).toBe('invalid_argument')
    expect(error.message).toContain('nope')
    expect(error.message).not.toMatch(/millrace_p|version|system/)
  })

  it('reports a syntax error with its position (ER-4)', async () => {
    const error = await failure(engine.rows('select (1'))
    expect(error.code).toBe('invalid_argument')
    expect(error.details).toEqual([
      expect.objectContaining({ engineCode: 'SYNTAX_ERROR', position: expect.any(Number) }),
    ])
  })

  it('reports the time limit as such (ER-4)', async () => {
    const error = await failure(
      engine.rows('select sum(sipHash64(number)) from numbers(30000000000)', { timeoutMs: 300 }),
    )
    expect(error.code).toBe('deadline_exceeded')
  })

  it('reports the memory limit as such (ER-4)', async () => {
    const error = await failure(
      engine.rows('select groupArray(number) from numbers(50000000)', {
        settings: { max_memory_usage: 50_000_000 },
      }),
    )
    expect(error.code).toBe('resource_exhausted')
  })

  it('fails a stream whose statement fails on its way, with the reason', async () => {
    const sql = 'select number, throwIf(number = 3000000) from numbers(10000000)'
    const stream = await engine.stream(sql, 'TSV', { settings: { max_block_size: 10000, max_threads: 1 } })
    const error = await failure(textOf(stream))
    expect(error.code).toBe('invalid_argument')
    expect(error.details).toEqual([{ engineCode: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' }])
  })

  it('fails a slowly read stream with the reason too', async () => {
    const sql = `select repeat('x', 1000), throwIf(number = 300000) from numbers(1000000)`
    const stream = await engine.stream(sql, 'TSV', { settings: { max_block_size: 1000, max_threads: 1 } })
    const slowly = (async () => {
      for await (const _chunk of stream) await new Promise((resolve) => setImmediate(resolve))
    })()
    expect((await failure(slowly)).details).toEqual([{ engineCode: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' }])
  })
})

describe('cancellation', () => {
  it('stops a computation when its signal is aborted (SQ-7)', async () => {
    const stop = new AbortController()
    const sql = 'select sum(sipHash64(number)) as marker_a from numbers(100000000000)'
    const query = failure(engine.rows(sql, { signal: stop.signal }))
    await until(async () => (await running('marker_a')) === 1)
    stop.abort()
    expect((await query).code).toBe('cancelled')
    await until(async () => (await running('marker_a')) === 0)
  })

  it('stops a statement whose stream is given up (SQ-7)', async () => {
    const stream = await engine.stream('select number as marker_b from numbers(100000000000)', 'TSV')
    await until(async () => (await running('marker_b')) === 1)
    stream.destroy()
    await until(async () => (await running('marker_b')) === 0)
  })

  it('hands out a short part of a result while its statement goes on', async () => {
    // A hash, as the engine ends at once where it knows that no other number is meant.
    const sql =
      'select number as marker_c from numbers(100000000000) where sipHash64(number) = sipHash64(toUInt64(3))'
    const stream = await engine.stream(sql, 'TSV')
    for await (const chunk of stream) {
      expect(String(chunk)).toBe('3\n')
      break
    }
    await until(async () => (await running('marker_c')) === 0)
  })

  it('runs nothing for a signal that is aborted already', async () => {
    const error = await failure(engine.rows('select 1', { signal: AbortSignal.abort() }))
    expect(error.code).toBe('cancelled')
  })
})
