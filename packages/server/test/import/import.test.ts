import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderProgress } from '../../src/cli/import/progress-bar.ts'
import { createRowToRecord } from '../../src/cli/import/row-to-record.ts'
import { runImport, type ImportOptions } from '../../src/cli/import/run-import.ts'
import { runMillrace } from '../cli/run-millrace.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let directory: string

beforeAll(async () => {
  service = await startTestService()
  directory = await mkdtemp(join(tmpdir(), 'millrace-import-'))
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(async () => {
  await service.stop()
  await rm(directory, { recursive: true })
})

const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql } })
  return body.result?.rows ?? body
}
const write = async (name: string, content: string | Uint8Array) => {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}
const millrace = (...args: readonly string[]) =>
  runMillrace(['import', 'test/p', ...args], {
    MILLRACE_URL: service.url,
    MILLRACE_API_KEY: service.administratorKey,
  })
const options = (path: string, more: Partial<ImportOptions> = {}): ImportOptions => ({
  connection: { baseUrl: service.url, apiKey: service.administratorKey },
  project: 'test/p',
  path,
  format: undefined,
  mapping: null,
  batchRows: 10,
  version: undefined,
  onProgress: () => undefined,
  onWarning: () => undefined,
  ...more,
})
const counters = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ type: 'counter', name, value: 1, timestampMicros: (1_700_000_000 + i) * 1e6 }),
  ).join('\n')

describe('millrace import', () => {
  it('takes NDJSON whose lines are records, compressed too, and tells how many', async () => {
    const path = await write('records.ndjson.gz', gzipSync(counters('zipped', 25)))
    const { code, stdout, stderr } = await millrace(path, '--batch-rows', '10')
    expect([stderr, code]).toEqual(['', 0])
    expect(stdout).toContain('25 rows imported')
    expect(await rows('select sum(value) as s from zipped')).toEqual([{ s: 25 }])
    expect((await readdir(directory)).filter((name) => name.endsWith('.import'))).toEqual([])
  })

  it('makes events of CSV: quotes, line breaks, absent cells, types and times (RFC 4180, IN-6)', async () => {
    const path = await write(
      'transfers.csv',
      'block_number,evt_time,from,value,note\r\n' +
        '7,2024-01-01 00:00:00.123456 UTC,alice,115792089237316195423570985008687907853269984665640564039457584007913129639935,"a ""b"",\nc"\r\n' +
        '8,1704067201,bob,1,\r\n',
    )
    const args = [
      '--as',
      'event:Transfer',
      '--chain',
      '1',
      '--type',
      'value=int',
      '--column',
      'time=evt_time',
    ]
    expect(await millrace(path, ...args)).toMatchObject({ code: 0, stderr: '' })
    const transfers = await rows(
      'select timestamp, chain, block_number, `from`, value, note from Transfer order by block_number',
    )
    expect(transfers).toEqual([
      {
        timestamp: '2024-01-01T00:00:00.123456Z',
        chain: '1',
        block_number: 7,
        from: 'alice',
        value: String(2n ** 256n - 1n),
        note: 'a "b",\nc',
      },
      {
        timestamp: '2024-01-01T00:00:01.000000Z',
        chain: '1',
        block_number: 8,
        from: 'bob',
        value: '1',
        note: null,
      },
    ])
  })

  it.each(['transfers', 'transfers-snappy'])(
    'makes entities of Parquet without losing a digit: %s (IN-6)',
    async (name) => {
      const path = join(import.meta.dirname, 'fixtures', `${name}.parquet`)
      const entity = name.replace('-', '_')
      const { code, stderr } = await millrace(
        path,
        '--as',
        `entity:${entity}`,
        '--column',
        'id=transaction_hash',
      )
      expect([stderr, code]).toEqual(['', 0])
      expect(
        await rows(
          `select id, big, amount, note, ratio, __block_number as b, __timestamp as t from ${entity} where id = '0x07'`,
        ),
      ).toEqual([
        {
          id: '0x07',
          big: '9007199254741000',
          amount: '12345678901234567897.000000000000000001',
          note: '7',
          ratio: 0.875,
          b: 7,
          t: '2024-01-01T00:00:07.000001Z',
        },
      ])
      expect(await rows(`select count() as n from ${entity}`)).toEqual([{ n: 25 }])
    },
  )

  it('refuses an option that names a column which the file has not', async () => {
    const path = await write('columns.csv', 'at,value\n2026-01-01T00:00:00Z,1\n')
    for (const option of ['--column time=moment', '--type valeu=int']) {
      const { code, stderr } = await millrace(path, '--as', 'event:Columns', ...option.split(' '))
      expect(stderr).toMatch(new RegExp(`${option}: the file has no column \\w+; it has at, value`))
      expect(code).toBe(2)
    }
  })

  it('makes gauges, whose other columns are labels', async () => {
    const path = await write(
      'prices.tsv',
      'timestamp\tvalue\ttoken\n1704067200000\t1.5\tETH\n1704067260000\t1e-3\tBTC\n',
    )
    expect(await millrace(path, '--as', 'gauge:price')).toMatchObject({ code: 0, stderr: '' })
    expect(await rows("select value, labels['token'] as token from price order by timestamp")).toEqual([
      { value: 1.5, token: 'ETH' },
      { value: 0.001, token: 'BTC' },
    ])
  })

  it('goes on where it was interrupted, and loses and doubles nothing (IN-2)', async () => {
    const path = await write('resumed.ndjson', counters('resumed', 95))
    let calls = 0
    const broken: typeof fetch = async (...args) => {
      if (++calls <= 4) return fetch(...args)
      // The fifth batch arrives, and the answer is lost for good.
      await fetch(...args)
      return new Response('{"message":"gone"}', { status: 403 })
    }
    const connection = { ...options(path).connection, fetch: broken }
    await expect(runImport(options(path, { connection }))).rejects.toThrow('gone')
    expect(await runImport(options(path))).toEqual({ rows: 95, resumedAt: 40, repeatedRows: 10, badRows: 0 })
    expect(await rows('select sum(value) as s from resumed')).toEqual([{ s: 95 }])
    expect(await runImport(options(path))).toEqual({ rows: 95, resumedAt: 0, repeatedRows: 95, badRows: 0 })
    expect(await rows('select sum(value) as s from resumed')).toEqual([{ s: 95 }])
  })

  it('goes on in a file that was mended behind what is imported, and in no other', async () => {
    const faulty = `${counters('mended', 15)}\n\n{"type":"counter"}\n${counters('mended', 10)}`
    const path = await write('mended.ndjson', faulty)
    await expect(runImport(options(path))).rejects.toThrow(
      /mended\.ndjson, line 17: timestampMicros is required.*\nNothing of its batch is imported/,
    )
    await write('mended.ndjson', faulty.replace('"value":1', '"value":2'))
    await expect(runImport(options(path))).rejects.toThrow(/first 10 rows of .*mended\.ndjson.* have changed/)
    await write('mended.ndjson', faulty.slice(0, 200))
    await expect(runImport(options(path))).rejects.toThrow(/have changed/)
    await write('mended.ndjson', faulty.replace('{"type":"counter"}', counters('mended', 1)))
    expect(await runImport(options(path))).toMatchObject({ rows: 26, resumedAt: 10, repeatedRows: 0 })
    expect(await rows('select sum(value) as s from mended')).toEqual([{ s: 26 }])
  })

  it('leaves out bad rows where it may, and says where each stands, what it is and why', async () => {
    const ndjson = await write(
      'bad.ndjson',
      `${counters('bad', 2)}\n{"type":"counter",\n{"type":"counter","name":"bad","value":"x","timestampMicros":1}\n${counters('bad', 20)}\n`,
    )
    const csv = await write(
      'bad.csv',
      'time,amount,live,at,data,ratio,note\n' +
        '2024-01-01,1,true,2024-01-01,{},1.5,"two\nlines"\n' +
        'yesterday,2,,,,,\n' +
        '2024-01-02,x,,,,,\n' +
        '2024-01-02,3,maybe,,,,\n' +
        '2024-01-02,4,,soon,,,\n' +
        '2024-01-02,5,,,{,,\n' +
        '2024-01-02,6,,,,"",\n' +
        '2024-01-02,7\n' +
        '2024-01-02,8,f,,"{""n"":9007199254740993}",0.25,\n',
    )
    const left = join(directory, 'left.ndjson')
    const types = ['amount=int', 'live=boolean', 'at=time', 'data=json', 'ratio=number']
    const results = [
      await millrace(ndjson, '--bad-rows', left, '--batch-rows', '5'),
      await millrace(
        csv,
        '--bad-rows',
        left,
        '--as',
        'event:Bad',
        ...types.flatMap((type) => ['--type', type]),
      ),
    ]
    expect(results.map(({ code, stderr, stdout }) => [code, stderr, stdout])).toEqual([
      [0, '', expect.stringMatching(/22 rows imported[^]*2 rows were left out; .*left\.ndjson/)],
      [0, '', expect.stringMatching(/2 rows imported[^]*7 rows were left out/)],
    ])
    expect(await rows('select sum(value) as s from bad')).toEqual([{ s: 22 }])
    expect(await rows('select amount, live, data from Bad order by amount')).toEqual([
      { amount: '1', live: true, data: '{}' },
      { amount: '8', live: false, data: '{"n":9007199254740993}' },
    ])
    const told = (await readFile(left, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(
      told.map(({ path, place, reason }) => [path === csv, place, reason.replace(/ \(line.*/, '')]),
    ).toEqual([
      [false, 'line 3', expect.stringMatching(/^is not valid JSON/)],
      [false, 'line 4', expect.stringMatching(/^value must be a finite number/)],
      [true, 'line 4', 'column time holds "yesterday", which is no instant'],
      [true, 'line 6', 'column live holds "maybe", which is no boolean (true or false)'],
      [true, 'line 7', 'column at holds "soon", which is no instant'],
      [true, 'line 8', 'column data holds "{", which is no JSON'],
      [true, 'line 9', 'column ratio holds "", which is no finite number'],
      [true, 'line 10', 'has 2 cells; the header has 7'],
      [true, 'line 5', expect.stringMatching(/^attributes\.amount\.\$int must be/)],
    ])
    expect(told[1].text).toContain('"value":"x"')
  })

  it('keeps every digit of numbers in NDJSON whose lines are no records (IN-6)', async () => {
    const path = await write(
      'long.ndjson',
      '{"time":"2024-01-01","amount":115792089237316195423570985008687907853269984665640564039457584007913129639935,"rate":0.123456789012345678901234567891,"nested":{"n":[9007199254740993]},"small":1.5}\n',
    )
    expect(await millrace(path, '--as', 'event:Long')).toMatchObject({ code: 0, stderr: '' })
    expect(await rows('select amount, rate, nested, small from Long')).toEqual([
      {
        amount: String(2n ** 256n - 1n),
        rate: '0.123456789012345678901234567891',
        nested: '{"n":[9007199254740993]}',
        small: 1.5,
      },
    ])
  })

  it.each([
    ['two.csv', 'a,b,a\n1,2,3\n', /two columns are called a/],
    ['unnamed.csv', 'a,,b\n1,2,3\n', /column 2 has no name/],
    ['open.csv', 'a,b\n1,"2\n3,4\n5,6\n', /ends inside the quoted cell that begins in line 2/],
    ['latin.csv', Buffer.from([0x61, 0x0a, 0xe9, 0x0a]), /latin\.csv is not UTF-8/],
    ['cut.csv.gz', gzipSync('a,b\n1,2\n').subarray(0, 15), /cut\.csv\.gz is no whole gzip file/],
    ['cut.parquet', Buffer.from('PAR1 and no more'), /cut\.parquet is no whole Parquet file/],
  ])('says what is wrong with the file %s', async (name, content, pattern) => {
    const path = await write(name, content)
    const { code, stderr } = await millrace(path, '--as', 'event:Never')
    expect(stderr).toMatch(pattern)
    expect(code).toBe(1)
  })

  it.each([
    [['none.csv', '--as', 'event:a'], /none\.csv cannot be read: there is no such file/],
    [['x.csv'], /--as is needed for csv/],
    [['x.bin'], /--format must be one of ndjson/],
    [['x.csv', '--as', 'thing:a'], /--as is written kind:name/],
    [['x.csv', '--as', 'event:a', '--type', 'v=float'], /--type is written column=type/],
    [['x.ndjson', '--chain', '1'], /need --as/],
  ])('says what is wrong with %j, with exit code 2', async (args, pattern) => {
    await write('x.csv', 'a\n1\n')
    await write('x.bin', '')
    const { code, stderr } = await millrace(
      ...args.map((arg, place) => (place === 0 ? join(directory, arg) : arg)),
    )
    expect(stderr).toMatch(pattern)
    expect(code).toBe(2)
  })

  it('draws a bar', () => {
    const half = {
      name: 'a.csv',
      fraction: 0.5,
      rows: 1_234_567,
      rate: 98_765.4,
      secondsLeft: 61.5,
      columns: 100,
    }
    expect(renderProgress(half)).toBe(
      `a.csv [${'█'.repeat(15)}${' '.repeat(15)}] 50 %  1,234,567 rows  98,765/s  1:02 min left`,
    )
    const begun = { ...half, fraction: 0, rows: 0, rate: Number.NaN, secondsLeft: Number.NaN }
    expect(renderProgress(begun)).toBe(`a.csv [${' '.repeat(30)}] 0 %  0 rows`)
  })

  it('names fields in either spelling (WI-2)', () => {
    const mapping = { kind: 'event', name: 'E', typeOfColumn: {}, chain: '1' } as const
    const records = ['blockNumber', 'block_number'].map((field) =>
      createRowToRecord({ ...mapping, columnOfField: { [field]: 'height' } })({ height: '5' }),
    )
    const record = { type: 'event', name: 'E', chain: '1', blockNumber: 5, attributes: {} }
    expect(records).toEqual([record, record])
  })

  it('draws it into a narrow terminal too, whatever the name of the file', () => {
    const half = { fraction: 0.5, rows: 1_234_567, rate: 98_765.4, secondsLeft: 61.5 }
    const name = 'a-rather-long-name-of-a-file.ndjson'
    expect(renderProgress({ ...half, name, columns: 79 })).toBe(
      'a-rath…djson [█████████         ] 50 %  1,234,567 rows  98,765/s  1:02 min left',
    )
    expect(renderProgress({ ...half, name, columns: 39 })).toBe('a-rather-…e.ndjson 50 %  1,234,567 rows')
    expect(renderProgress({ ...half, name, columns: 20 })).toBe('a-rathe….ndjson 50 %')
  })
})
