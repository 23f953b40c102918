import type { EventRow, Sample } from '../ingest/batch.ts'
import type { NumberedBatch } from '../ingest/fact-store.ts'
import type { FactEngine } from './fact-engine.ts'
import { eventLine, eventLineColumns, POINT_COLUMNS, pointRow } from './fact-store-rows.ts'
import type { VersionSchema } from './fact-store-schema.ts'
import { insertParts, type InsertPart } from './insert-parts.ts'
import { eventTable } from './layout.ts'

/** Rows rendered in one go before other requests get their turn; a few milliseconds. */
const ROWS_PER_TURN = 2000
const INSERT_TIMEOUT_MS = 60_000

/** Rows of one table, with the numbers of their batches. */
interface Rows<Row> {
  readonly database: string
  readonly table: string
  readonly columns: readonly string[]
  readonly batches: readonly { readonly sequence: number; readonly rows: readonly Row[] }[]
  render(row: Row, sequence: number): string
}

/** Inserts the samples and events of prepared batches, one insert a table. Repeated with the same batches it changes nothing. */
export async function writeBatches(
  engine: FactEngine,
  { databases, eventLogs }: VersionSchema,
  batches: readonly NumberedBatch[],
): Promise<void> {
  const token = `${batches[0]?.sequence}-${batches.at(-1)?.sequence}`
  const database = databases.facts
  const points: Rows<Sample> = {
    database,
    table: 'points',
    columns: POINT_COLUMNS,
    batches: batches.map(({ sequence, batch }) => ({ sequence, rows: batch.samples })),
    render: pointRow,
  }
  await insertRows(engine, points, token)
  for (const name of new Set(batches.flatMap(({ batch }) => [...batch.events.keys()]))) {
    const attributes = eventLogs.get(name) ?? new Map()
    const events: Rows<EventRow> = {
      database,
      table: eventTable(name),
      columns: eventLineColumns(attributes),
      batches: batches.map(({ sequence, batch }) => ({ sequence, rows: batch.events.get(name) ?? [] })),
      render: (row, sequence) => eventLine(row, sequence, attributes),
    }
    await insertRows(engine, events, token)
  }
}

async function insertRows<Row extends Sample | EventRow>(
  engine: FactEngine,
  target: Rows<Row>,
  token: string,
): Promise<void> {
  const { database, table, columns } = target
  for (const [index, part] of insertParts(timesOf(target)).entries()) {
    const rows = await render(target, part)
    if (rows.byteLength === 0) continue
    await engine.insert(
      {
        database,
        table,
        columns,
        format: 'JSONCompactEachRow',
        rows,
        deduplicationToken: `${token}-${index}`,
      },
      { timeoutMs: INSERT_TIMEOUT_MS },
    )
  }
}

function* timesOf({ batches }: Rows<Sample | EventRow>): Iterable<number> {
  for (const { rows } of batches) for (const { place } of rows) yield place.timestampMicros
}

async function render<Row extends Sample | EventRow>(target: Rows<Row>, part: InsertPart): Promise<Buffer> {
  const chunks: Buffer[] = []
  let text = ''
  let count = 0
  for (const { sequence, rows } of target.batches) {
    for (const row of rows) {
      if (!part(row.place.timestampMicros)) continue
      text += `${target.render(row, sequence)}\n`
      count++
      if (count % ROWS_PER_TURN !== 0) continue
      chunks.push(Buffer.from(text))
      text = ''
      await new Promise(setImmediate)
    }
  }
  chunks.push(Buffer.from(text))
  return Buffer.concat(chunks)
}
