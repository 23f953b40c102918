import { nextTurn } from '../ingest/next-turn.ts'
import type { Place, Sample } from '../ingest/batch.ts'
import {
  bytesOf,
  createDictionary,
  nativeBlock,
  setInteger,
  stringColumn,
  type NativeColumn,
} from './native-columns.ts'
import type { InsertPart } from './insert-parts.ts'

/** Samples of one batch, with its number. */
export interface PointBatch {
  readonly sequence: number
  readonly samples: readonly Sample[]
}

/** Rows encoded in one go before other requests get their turn; about one millisecond. */
const ROWS_PER_TURN = 2000
const MAX_POSITION = 2 ** 20 - 1
const MAX_INDEX = 2 ** 22 - 1

/**
 * The samples of a part as a block of rows of `points`, in the order of the batches; null where there are none. As JSON the same
 * rows cost us eight times and the engine four times as much.
 */
export async function encodePoints(
  batches: readonly PointBatch[],
  isPart: InsertPart,
): Promise<Uint8Array | null> {
  const capacity = batches.reduce((sum, { samples }) => sum + samples.length, 0)
  const columns = createColumns(capacity)
  let rows = 0
  for (const { sequence, samples } of batches) {
    for (const sample of samples) {
      if (!isPart(sample.place.timestampMicros)) continue
      setRow(columns, rows++, sample, sequence)
      if (rows % ROWS_PER_TURN === 0) await nextTurn()
    }
  }
  return rows === 0 ? null : nativeBlock(rows, toNative(columns, rows))
}

type Columns = ReturnType<typeof createColumns>

function createColumns(capacity: number) {
  const integers = () => new Uint32Array(2 * capacity)
  return {
    metric: createDictionary(capacity),
    seriesId: integers(),
    timestamp: integers(),
    value: new Float64Array(capacity),
    exact: [] as string[],
    chain: createDictionary(capacity),
    blockNumber: integers(),
    ordinal: integers(),
    batch: integers(),
  }
}

function setRow(
  columns: Columns,
  row: number,
  { series, value, exact, place, index }: Sample,
  sequence: number,
): void {
  const at = 2 * row
  columns.metric.set(row, series.metric)
  columns.seriesId[at] = series.idLow
  columns.seriesId[at + 1] = series.idHigh
  setInteger(columns.timestamp, at, place.timestampMicros)
  columns.value[row] = value
  if (exact !== '') columns.exact[row] = exact
  columns.chain.set(row, place.chain)
  setInteger(columns.blockNumber, at, place.blockNumber)
  setOrdinal(columns.ordinal, at, place, index, sequence)
  setInteger(columns.batch, at, sequence)
}

/**
 * Orders samples of one time by their place: 22 bits of transaction index, 22 of log index, 20 of the position in the batch. What has no chain
 * has no place either, and is ordered by arrival: batch number, then position.
 */
function setOrdinal(halves: Uint32Array, at: number, place: Place, index: number, sequence: number): void {
  const position = Math.min(index, MAX_POSITION)
  const hasPlace = place.chain !== ''
  const log = hasPlace ? Math.min(place.logIndex, MAX_INDEX) : sequence
  const transaction = hasPlace ? Math.min(place.transactionIndex, MAX_INDEX) : 0
  // 20 bits of position and the low 12 of the log below, the rest above.
  halves[at] = (log % 2 ** 12) * 2 ** 20 + position
  halves[at + 1] = transaction * 2 ** 10 + Math.floor(log / 2 ** 12)
}

function toNative(columns: Columns, rows: number): readonly NativeColumn[] {
  const { metric, seriesId, timestamp, value, exact, chain, blockNumber, ordinal, batch } = columns
  const unsigned = (name: string, numbers: Uint32Array<ArrayBuffer>): NativeColumn => ({
    name,
    type: 'UInt64',
    data: [bytesOf(numbers, rows)],
  })
  return [
    { name: 'metric', type: 'LowCardinality(String)', data: metric.data(rows) },
    unsigned('series_id', seriesId),
    { name: 'timestamp', type: `DateTime64(6, 'UTC')`, data: [bytesOf(timestamp, rows)] },
    { name: 'value', type: 'Float64', data: [bytesOf(value, rows)] },
    { name: 'exact', type: 'String', data: [stringColumn(rows, exact)] },
    { name: 'chain', type: 'LowCardinality(String)', data: chain.data(rows) },
    unsigned('block_number', blockNumber),
    unsigned('ordinal', ordinal),
    unsigned('batch', batch),
  ]
}
