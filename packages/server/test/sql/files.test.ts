import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { parquetMetadata } from 'hyparquet'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const PATH = '/analytics/demo/files/sql/execute'
const ROWS = 300_000
let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'demo', name: 'files' })
})

afterAll(() => service.stop())

const ask = (format: string, sql: string): Promise<Response> =>
  fetch(`${service.url}/api/v1${PATH}?format=${format}`, {
    method: 'POST',
    headers: { 'api-key': service.administratorKey },
    body: JSON.stringify({ sqlQuery: { sql } }),
  })

const MIXED = `select toUInt64(18446744073709551615) as long, 'a,"b"\n' as text, null as nothing, '' as empty,
  toDate('2024-01-01') as day, [1, 2] as list`

it('gives whole results as CSV, with the values of the JSON answers (SQ-8)', async () => {
  const answer = await ask('csv', MIXED)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/csv; charset=utf-8; header=present',
  ])
  expect(await answer.text()).toBe(
    'long,text,nothing,empty,day,list\r\n18446744073709551615,"a,""b""\n",,"",2024-01-01T00:00:00Z,"[1,2]"\r\n',
  )
})

it('warns in a header that totals are not among the rows of a file (SQ-5, SQ-8)', async () => {
  for (const format of ['csv', 'ndjson', 'parquet']) {
    const answer = await ask(format, 'select number % 2 as n, count() from numbers(4) group by n with totals')
    await answer.arrayBuffer()
    expect([answer.status, answer.headers.get('x-warning')]).toEqual([
      200,
      expect.stringContaining('WITH ROLLUP'),
    ])
    const plain = await ask(format, 'select 1')
    await plain.arrayBuffer()
    expect(plain.headers.has('x-warning')).toBe(false)
  }
  const refused = await ask('arrow', 'select number as n, count() from numbers(4) group by n with totals')
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('WITH ROLLUP')])
})

it('gives whole results as NDJSON (SQ-8)', async () => {
  const text = await (await ask('ndjson', `select number as n, 'x' as s from numbers(${ROWS})`)).text()
  const lines = text.split('\n')
  expect(lines).toHaveLength(ROWS + 1)
  expect([JSON.parse(lines[0] ?? ''), JSON.parse(lines[ROWS - 1] ?? '')]).toEqual([
    { n: 0, s: 'x' },
    { n: ROWS - 1, s: 'x' },
  ])
})

it('gives whole results as Arrow: one stream with one schema and its end (SQ-8)', async () => {
  const answer = await ask('arrow', `select number as n, toString(number) as s from numbers(${ROWS})`)
  expect(answer.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream')
  const kinds = messageKinds(Buffer.from(await answer.arrayBuffer()))
  expect(kinds.filter((kind) => kind === SCHEMA)).toHaveLength(1)
  expect(kinds.indexOf(SCHEMA)).toBe(0)
  expect(kinds.filter((kind) => kind === RECORD_BATCH).length).toBeGreaterThan(1)
  expect(kinds.at(-1)).toBe(END)
})

it('compresses no batches of Arrow, which not every client could read (SQ-8)', async () => {
  const answer = await ask('arrow', `select repeat('plain ', 100) as s from numbers(50)`)
  expect(
    Buffer.from(await answer.arrayBuffer())
      .toString('latin1')
      .split('plain '),
  ).toHaveLength(5001)
})

it('gives whole results as Parquet (SQ-8)', async () => {
  const bytes = Buffer.from(
    await (await ask('parquet', `select number as n from numbers(${ROWS})`)).arrayBuffer(),
  )
  expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])
})

it('writes Parquet in groups of rows, within the limit of a result, and leaves no file behind (SQ-8, CU-3)', async () => {
  const sql = 'select number as n, toString(number) as s from numbers(2500000)'
  const bytes = Buffer.from(await (await ask('parquet', sql)).arrayBuffer())
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const { num_rows: rows, row_groups: groups } = parquetMetadata(file)
  expect(Number(rows)).toBe(2_500_000)
  expect(groups.length).toBeGreaterThan(1)
  const left = await readdir(join(service.dataDirectory, 'facts', 'millrace_rows'))
  expect(left.filter((name) => name.endsWith('.result'))).toEqual([])
  const large = await ask('parquet', `select repeat('x', 1000) from numbers(3000000)`)
  expect([large.status, ((await large.json()) as { message: string }).message]).toEqual([
    429,
    expect.stringMatching(/limit|exceeded/i),
  ])
})

it('refuses before the first byte what is known to be wrong', async () => {
  for (const format of ['csv', 'ndjson', 'arrow', 'parquet']) {
    expect((await ask(format, 'select nothing')).status).toBe(400)
    expect((await ask(format, 'drop table x')).status).toBe(400)
  }
  expect((await ask('xml', 'select 1')).status).toBe(400)
  expect((await ask('arrow', 'show tables')).status).toBe(400)
})

it('breaks the connection off where a statement fails on its way, so that nobody takes a part for the whole (SQ-8)', async () => {
  for (const format of ['csv', 'ndjson', 'arrow']) {
    const answer = await ask(format, 'select throwIf(number = 600000) as ok, number from numbers(1000000)')
    expect(answer.status).toBe(200)
    await expect(answer.arrayBuffer()).rejects.toThrow('terminated')
  }
})

it('answers with the error where Parquet fails on its way: a file without its last bytes is never sent (SQ-8)', async () => {
  const answer = await ask('parquet', 'select throwIf(number = 600000) as ok, number from numbers(1000000)')
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
    400,
    expect.stringMatching(/throwIf/),
  ])
})

it.each(['csv', 'ndjson', 'arrow', 'parquet'])(
  'lets whoever receives %s see that its transfer was cut, wherever that was (SQ-8)',
  async (format) => {
    const answer = await receiveRaw(format, 'select number as n, toString(number) as s from numbers(200000)')
    expect(answer.isWhole(answer.bytes)).toBe(true)
    for (const share of [0.2, 0.5, 0.9, 0.999]) {
      expect(answer.isWhole(answer.bytes.subarray(0, Math.floor(answer.bytes.length * share)))).toBe(false)
    }
    expect(answer.isWhole(answer.bytes.subarray(0, -1))).toBe(false)
  },
)

/** The bytes of an answer on the wire, and whether bytes are all of it by the rules of HTTP. */
async function receiveRaw(format: string, sql: string) {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ sqlQuery: { sql } })
  socket.write(
    `POST /api/v1${PATH}?format=${format} HTTP/1.1\r\nhost: x\r\nconnection: close\r\napi-key: ${service.administratorKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const parts: Buffer[] = []
  for await (const part of socket as AsyncIterable<Buffer>) parts.push(part)
  return { bytes: Buffer.concat(parts), isWhole: endsWithLastChunk }
}

/** Walks through the chunks of a message: it is whole with the empty one. */
function endsWithLastChunk(bytes: Buffer): boolean {
  const head = bytes.indexOf('\r\n\r\n')
  expect(bytes.toString('latin1', 0, head).toLowerCase()).toContain('transfer-encoding: chunked')
  for (let at = head + 4; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return false
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    at = lineEnd + 2 + size + 2
    if (at > bytes.length) return false
    if (size === 0) return true
  }
}

const END = 0
const SCHEMA = 1
const RECORD_BATCH = 3

/** The kinds of the messages of an Arrow stream. */
function messageKinds(bytes: Buffer): number[] {
  const kinds: number[] = []
  for (let at = 0; at < bytes.length;) {
    expect(bytes.readInt32LE(at)).toBe(-1)
    const size = bytes.readInt32LE(at + 4)
    if (size === 0) {
      kinds.push(END)
      expect(at + 8).toBe(bytes.length)
      break
    }
    const table = at + 8 + bytes.readInt32LE(at + 8)
    const fields = table - bytes.readInt32LE(table)
    kinds.push(bytes.readUInt8(table + bytes.readUInt16LE(fields + 6)))
    const bodyField = bytes.readUInt16LE(fields) > 10 ? bytes.readUInt16LE(fields + 10) : 0
    const bodyBytes = bodyField === 0 ? 0 : Number(bytes.readBigInt64LE(table + bodyField))
    at += 8 + size + bodyBytes
  }
  return kinds
}
