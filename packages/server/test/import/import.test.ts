import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderProgress } from '../../src/cli/import/progress-bar.ts'
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
    expect(await runImport(options(path))).toEqual({ rows: 95, resumedAt: 40, repeatedRows: 10 })
    expect(await rows('select sum(value) as s from resumed')).toEqual([{ s: 95 }])
    expect(await runImport(options(path))).toEqual({ rows: 95, resumedAt: 0, repeatedRows: 95 })
    expect(await rows('select sum(value) as s from resumed')).toEqual([{ s: 95 }])
  })

  it('refuses to go on in a file that has changed since', async () => {
    const path = await write('changed.ndjson', `${counters('changed', 15)}\n{"type":"counter"}`)
    await expect(runImport(options(path))).rejects.toThrow(
      /rows 11 to 16 were refused.*line 6.*timestampMicros is required/,
    )
    await write('changed.ndjson', counters('changed', 17))
    await expect(runImport(options(path))).rejects.toThrow(/changed\.ndjson has changed since row 10/)
  })

  it.each([
    [['x.csv'], /--as is needed for csv/],
    [['x.bin'], /--format must be one of ndjson/],
    [['x.csv', '--as', 'thing:a'], /--as is written kind:name/],
    [['x.csv', '--as', 'event:a', '--type', 'v=float'], /--type is written column=type/],
    [['x.ndjson', '--chain', '1'], /need --as/],
  ])('says what is wrong with %j, with exit code 2', async (args, pattern) => {
    await write('x.csv', 'a\n1\n')
    const { code, stderr } = await millrace(
      ...args.map((arg) => (arg.startsWith('x.') ? join(directory, arg) : arg)),
    )
    expect(stderr).toMatch(pattern)
    expect(code).toBe(2)
  })

  it('draws a bar', () => {
    expect(renderProgress(0.5, 1_234_567, 98_765.4)).toBe(
      `[${'█'.repeat(15)}${' '.repeat(15)}] 50 %  1,234,567 rows  98,765/s`,
    )
  })
})
