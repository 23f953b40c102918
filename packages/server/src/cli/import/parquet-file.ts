import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  type AsyncBuffer,
  type FileMetaData,
} from 'hyparquet'
import type { FileDecimal, FileTime, SourceFile, SourceRow } from './source-row.ts'

const ROWS_PER_READ = 10_000

const COMPRESSORS = {
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
}

/** Keep the microseconds that a Date has no room for. */
const PARSERS = {
  timestampFromMilliseconds: (millis: bigint): FileTime => ({ micros: millis * 1000n }),
  timestampFromMicroseconds: (micros: bigint): FileTime => ({ micros }),
  timestampFromNanoseconds: (nanos: bigint): FileTime => ({ micros: nanos / 1000n }),
}

/** A Parquet file, read by row groups. Decimals and times keep all their digits. */
export async function parquetFile(path: string): Promise<SourceFile> {
  const file: AsyncBuffer = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw new Error(`${path} is no whole Parquet file: ${(error as Error).message}`, { cause: error })
  })
  const scales = takeDecimals(metadata)
  const rowCount = Number(metadata.num_rows)
  let readRows = 0
  return {
    progress: () => (rowCount === 0 ? 1 : readRows / rowCount),
    async *rows(fromRow) {
      for (let rowStart = fromRow; rowStart < rowCount; rowStart += ROWS_PER_READ) {
        const rowEnd = Math.min(rowCount, rowStart + ROWS_PER_READ)
        const rows = await parquetReadObjects({
          file,
          metadata,
          rowStart,
          rowEnd,
          compressors: COMPRESSORS,
          parsers: PARSERS,
          utf8: false,
        })
        for (const [index, row] of rows.entries()) {
          yield { place: `row ${rowStart + index + 1}`, content: withDecimals(row, scales) }
        }
        readRows = rowEnd
      }
    },
  }
}

/**
 * The library makes decimals into floats, so they are declared to be what they are stored as, and read here.
 * Returns their scales by column.
 */
function takeDecimals(metadata: FileMetaData): ReadonlyMap<string, number> {
  const scales = new Map<string, number>()
  for (const element of metadata.schema) {
    if (element.converted_type !== 'DECIMAL' && element.logical_type?.type !== 'DECIMAL') continue
    scales.set(element.name, element.scale ?? 0)
    delete element.converted_type
    delete element.logical_type
  }
  return scales
}

function withDecimals(row: SourceRow, scales: ReadonlyMap<string, number>): SourceRow {
  if (scales.size === 0) return row
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const scale = scales.get(name)
      return [
        name,
        scale === undefined || value === null || value === undefined ? value : decimalOf(value, scale),
      ]
    }),
  )
}

function decimalOf(stored: unknown, scale: number): FileDecimal {
  const unscaled =
    stored instanceof Uint8Array
      ? BigInt.asIntN(stored.length * 8, BigInt(`0x${Buffer.from(stored).toString('hex') || '0'}`))
      : BigInt(stored as number | bigint)
  if (scale === 0) return { digits: unscaled.toString() }
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  return { digits: `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}` }
}
