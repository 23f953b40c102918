import { createClient, MillraceError, type Client, type RangeQueryRequest } from '@millrace/sdk'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT_ADDRESS } from './prepare-project.ts'

/** A command to paste, and what it showed when it was tried. */
export interface TriedCommand {
  readonly title: string
  readonly path: string
  /** Sent as JSON; null is a GET. */
  readonly body: unknown
}

const SQL = 'select timestamp, block_number, `from`, `to`, value from Transfer order by timestamp desc'
const DEAD_LETTER_PATIENCE_MS = 30_000
const POLL_MS = 250

/**
 * The four commands that show the service, tried on the data that is there, so that each answers with rows when it is
 * pasted: the cursor is a live one, and the dead letters have been waited for.
 */
export async function tryCommands(url: string, apiKey: string): Promise<readonly TriedCommand[]> {
  const client = createClient({ baseUrl: url, apiKey })
  const range = await rangeQuery(client)
  const first = { sql: SQL, size: 5 }
  const page = await client.executeSql(PROJECT_ADDRESS, first)
  const commands: TriedCommand[] = [
    {
      title: 'Minted and burned within 24 hours, hour by hour',
      path: `/api/v1/metrics/${PROJECT_ADDRESS}/query_range`,
      body: range,
    },
    {
      title: 'The latest transfers, by SQL',
      path: `/api/v1/analytics/${PROJECT_ADDRESS}/sql/execute`,
      body: { sqlQuery: first },
    },
  ]
  if (page.result.cursor) {
    commands.push({
      title: 'The next page of that result',
      path: `/api/v1/analytics/${PROJECT_ADDRESS}/sql/execute`,
      body: { cursor: page.result.cursor },
    })
  }
  await waitForDeadLetter(client)
  commands.push({
    title: 'Messages that the refusing channel never acknowledged',
    path: `/api/v1/webhook/deadletter/${PROJECT_ADDRESS}?limit=10`,
    body: null,
  })
  return commands
}

/** A recording at its own times lies outside the last 30 days; its own range is asked for then. */
async function rangeQuery(client: Client): Promise<RangeQueryRequest> {
  const sum = { aggregate: null, labelSelector: {}, disabled: false } as const
  const functions = [{ name: 'rollup_sum', arguments: [{ durationValue: { value: 1, unit: 'd' } }] }]
  const request = (start: string | number, end: string | number): RangeQueryRequest => ({
    queries: [
      { query: 'mint_sum', alias: 'Mint (24 hours)', id: 'a', ...sum, functions },
      { query: 'burn_sum', alias: 'Burn (24 hours)', id: 'b', ...sum, functions },
    ],
    formulas: [],
    timeRange: { start, end, step: 3600, timezone: 'America/Los_Angeles' },
    samplesLimit: 20,
  })
  const usual = request('now-30d', 'now')
  const answer = await client.queryRange(PROJECT_ADDRESS, usual)
  if (answer.results.some(({ matrix }) => (matrix?.samples.length ?? 0) > 0)) return usual
  const sql =
    'select toUnixTimestamp(min(timestamp)) as first, toUnixTimestamp(max(timestamp)) as last from Transfer'
  const { result } = await client.executeSql(PROJECT_ADDRESS, { sql })
  const { first, last } = result.rows[0] ?? {}
  return request(Number(first) * 1000, Number(last) * 1000)
}

async function waitForDeadLetter(client: Client): Promise<void> {
  const deadline = performance.now() + DEAD_LETTER_PATIENCE_MS
  while (performance.now() < deadline) {
    try {
      const { messages } = await client.pullDeadLetters(PROJECT_ADDRESS, { limit: 1 })
      if (messages.length > 0) return
    } catch (error) {
      if (!(error instanceof MillraceError && error.status === 503)) throw error
    }
    await sleep(POLL_MS)
  }
}

/** A command as a line for a POSIX shell. */
export function formatCurl(url: string, apiKey: string, { path, body }: TriedCommand): string {
  const head = `curl -s ${quote(`${url}${path}`)} -H ${quote(`api-key: ${apiKey}`)}`
  if (body === null) return head
  return `${head} -H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
