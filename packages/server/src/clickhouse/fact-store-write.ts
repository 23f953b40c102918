import { nextTurn } from '../ingest/next-turn.ts'
import type { AttributeRow } from '../ingest/batch.ts'
import type { NumberedBatch } from '../ingest/fact-store.ts'
import { ATTRIBUTE_TABLES } from './attribute-tables.ts'
import type { FactEngine } from './fact-engine.ts'
import { attributeFields } from './fact-store-rows.ts'
import type { VersionSchema } from './fact-store-schema.ts'
import { fitsOneInsert, insertParts, type InsertPart } from './insert-parts.ts'
import { encodePoints, type PointBatch } from './point-block.ts'

/** Rows rendered in one go before other requests get their turn; about one millisecond. */
const ROWS_PER_TURN = 500
const INSERT_TIMEOUT_MS = 60_000

/** Rows of one table, with the numbers of their batches. */
interface Rows<Row> {
  readonly database: string
  readonly table: string
  readonly columns: readonly string[]
  readonly batches: readonly { readonly sequence: number; readonly rows: readonly Row[] }[]
  render(row: Row, sequence: number): string
}

/**
 * Inserts the samples, events and entity changes of prepared batches, one insert a table. Repeated with the same batches and `attempt` it changes
 * nothing.
 */
export async function writeBatches(
  engine: FactEngine,
  { databases, known }: VersionSchema,
  batches: readonly NumberedBatch[],
  attempt = '',
): Promise<void> {
  const token = `${batches[0]?.sequence}-${batches.at(-1)?.sequence}${attempt}`
  const database = databases.facts
  await insertPoints(
    engine,
    database,
    batches.map(({ sequence, batch }) => ({ sequence, samples: batch.samples })),
    token,
  )
  for (const tables of ATTRIBUTE_TABLES) {
    for (const name of new Set(batches.flatMap(({ batch }) => [...tables.rowsOf(batch).keys()]))) {
      const attributes = known[tables.noun].get(name) ?? new Map()
      const rows: Rows<AttributeRow> = {
        database,
        table: tables.tableOf(name),
        columns: [...tables.columns, ...attributes.keys()],
        batches: batches.map(({ sequence, batch }) => ({
          sequence,
          rows: tables.rowsOf(batch).get(name) ?? [],
        })),
        render: (row, sequence) => `[${tables.fields(row, sequence)}${attributeFields(row, attributes)}]`,
      }
      await insertRows(engine, rows, token)
    }
  }
}

async function insertPoints(
  engine: FactEngine,
  database: string,
  batches: readonly PointBatch[],
  token: string,
): Promise<void> {
  for (const [index, part] of pointParts(batches).entries()) {
    const rows = await encodePoints(batches, part)
    if (rows === null) continue
    await engine.insert(
      { database, table: 'points', format: 'Native', rows, deduplicationToken: `${token}-${index}` },
      { timeoutMs: INSERT_TIMEOUT_MS },
    )
  }
}

async function insertRows<Row extends AttributeRow>(
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

function pointParts(batches: readonly PointBatch[]): readonly InsertPart[] {
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { samples } of batches) {
    for (const { place } of samples) {
      if (place.timestampMicros < earliest) earliest = place.timestampMicros
      if (place.timestampMicros > latest) latest = place.timestampMicros
    }
  }
  if (latest < earliest) return []
  if (fitsOneInsert(earliest, latest)) return [() => true]
  return insertParts(batches.flatMap(({ samples }) => samples.map(({ place }) => place.timestampMicros)))
}

function* timesOf({ batches }: Rows<AttributeRow>): Iterable<number> {
  for (const { rows } of batches) for (const { place } of rows) yield place.timestampMicros
}

async function render<Row extends AttributeRow>(target: Rows<Row>, part: InsertPart): Promise<Buffer> {
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
      await nextTurn()
    }
  }
  chunks.push(Buffer.from(text))
  return Buffer.concat(chunks)
}
