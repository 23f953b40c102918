// Asks for a time series, and walks all rows of a SQL result, of what processor.ts has sent.
//   MILLRACE_API_KEY=mr_… node examples/query.ts
import { createClient, MillraceError } from '@millrace/sdk'

const project = process.env['MILLRACE_PROJECT'] ?? 'demo/erc20'
const client = createClient({
  baseUrl: process.env['MILLRACE_URL'] ?? 'http://127.0.0.1:8080',
  apiKey: process.env['MILLRACE_API_KEY'] ?? '',
})

try {
  const { results } = await client.queryRange(project, {
    queries: [{ query: 'example_transfers', aggregate: { op: 'SUM' } }],
    timeRange: { start: 'now-15m', end: 'now', step: 60, timezone: 'Europe/Berlin' },
  })
  for (const { timestamp, value } of results[0]?.matrix?.samples[0]?.values ?? []) {
    console.log(new Date(Number(timestamp) * 1000).toISOString(), value)
  }

  let rows = 0
  for await (const _row of client.sqlRows(project, { sql: 'select * from ExampleTransfer', size: 5000 }))
    rows += 1
  console.log(`${rows} transfers`)
} catch (error) {
  if (!(error instanceof MillraceError)) throw error
  console.error(`${error.message} (status ${error.status}, request ${error.requestId})`)
  process.exitCode = 1
}
