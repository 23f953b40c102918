import { PROJECT } from './api.ts'
import { timeRepeats } from './latency.ts'
import type { Measurement } from './measurement.ts'

const PAGE_ROWS = 1000
const WALK =
  'select timestamp, block_number, `from`, `to`, amount, price from bench_event order by timestamp, log_index'

interface SqlAnswer {
  readonly cursor?: string
  readonly result: { readonly rows: readonly unknown[] }
}

/** SQL: first pages, pages by cursor, and an aggregation; the cache is off. */
export const measureSql: Measurement = async ({ options, api, progress }) => {
  const ask = (body: object): Promise<SqlAnswer> =>
    api.post(`/analytics/${PROJECT}/sql/execute`, body) as Promise<SqlAnswer>
  const first = (sql: string): Promise<SqlAnswer> =>
    ask({ sqlQuery: { sql, size: PAGE_ROWS }, cachePolicy: { noCache: true } })

  progress('SQL: first page')
  const firstPage = await timeRepeats(options.repeats, () => first(WALK))
  progress('SQL: pages by cursor')
  let { cursor } = await first(WALK)
  const nextPage = await timeRepeats(cursor ? options.repeats : 0, async () => {
    // Past the last page the walk begins anew with the page that a new first request leads to.
    cursor ||= (await first(WALK)).cursor
    ;({ cursor } = await ask({ cursor }))
  })
  progress('SQL: aggregation')
  const aggregation = await timeRepeats(options.repeats, () =>
    first(
      'select toDate(timestamp) as day, count() as n, sum(price) as total from bench_event group by day order by day',
    ),
  )
  return [
    { name: `SQL, first page of ${PAGE_ROWS} rows`, latency: firstPage },
    { name: `SQL, page of ${PAGE_ROWS} rows by cursor`, latency: nextPage },
    { name: 'SQL, aggregation by day', latency: aggregation },
  ]
}
