import type { Client } from './client.ts'
import { hitsOf } from './hits.ts'

/** Two projects with data, and where the views of the first one are. */
export interface FilledTables {
  /** Path of statements of the first. */
  readonly path: string
  readonly otherPath: string
  readonly database: string
}

const TRANSFER_ROWS = 200_000
const TRANSFERS = `select toDateTime64('2024-01-01 00:00:00', 6, 'UTC') + toIntervalMillisecond(number * 13) as timestamp,
    19000000 + intDiv(number, 100) as block_number, concat('0x', lower(hex(sipHash128(number)))) as transaction_hash,
    toUInt64(number % 100) as log_index, concat('0x', lower(substring(hex(SHA256(toString(number % 5000))), 1, 40))) as sender,
    toUInt256(intHash64(number)) * 1000003 as amount, number / 7 as price
    from numbers(${TRANSFER_ROWS})`

/**
 * Two projects; the first has an event log of ${TRANSFER_ROWS} rows and the table of the analytic queries behind views, as ingest lays them out. What is
 * there already with as many rows stays.
 */
export async function fillTables(client: Client, rows: number): Promise<FilledTables> {
  const paths: string[] = []
  for (const name of ['one', 'other']) {
    // It is there already when the directory is used again.
    await client.api('/projects', { owner: 'bench', name }).catch(() => undefined)
    await client.api(`/ingest/bench/${name}/batch`, {
      batchId: 'first',
      records: [{ type: 'event', name: 'Small', chain: '1', blockNumber: 1, time: '2024-01-01T00:00:00Z' }],
    })
    paths.push(`/analytics/bench/${name}/sql`)
  }
  const found = await client.engine(
    `select name from system.databases where match(name, '^millrace_p\\\\d+_v1$') order by length(name), name limit 1`,
    'default',
  )
  const { name: database } = JSON.parse(found.tail) as { name: string }
  for (const [name, source, count] of [
    ['Transfer', TRANSFERS, TRANSFER_ROWS],
    ['hits', hitsOf(rows), rows],
  ] as const) {
    const counted = await client
      .engine(`select toString(count()) as n from ${name}`, database)
      .catch(() => null)
    if (counted?.tail.includes(`"${count}"`)) continue
    const table = `${database}_facts.event_${name}`
    await client.engine(`drop view if exists ${name}`, database)
    await client.engine(`drop table if exists ${table} sync`, database)
    await client.engine(`create table ${table} engine = MergeTree order by tuple() as ${source}`, database)
    await client.engine(`create view ${name} as select * from ${table}`, database)
  }
  const [path = '', otherPath = ''] = paths
  return { path, otherPath, database }
}
