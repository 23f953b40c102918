import { invalidArgument } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { readColumns } from './columns.ts'
import { createRowEncoder } from './encode-rows.ts'
import type { PreparedStatement, PrepareStatement } from './prepare-statement.ts'
import { createRowReader } from './read-row.ts'
import { hideInsides, type StatementRunner } from './run-statement.ts'
import { linesOf } from './row-lines.ts'
import { resolveQuery, type QueryReference, type SavedQueryStore } from './saved-query.ts'

import type { BinaryFormat, RowStream } from './sql-engine.ts'

/** Formats of whole results (SQ-8), and what they are called on the wire. */
export const EXPORT_FORMATS = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<BinaryFormat | 'csv' | 'ndjson', string>
export type ExportFormat = keyof typeof EXPORT_FORMATS

/** A whole result, and what of the statement was probably not meant so. */
export interface WholeResult {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly warnings: readonly string[]
}

/**
 * A whole result as it comes. The stream throws where the statement fails on its way, and then ends without its last
 * bytes: whoever sends it on must break off too.
 */
export type ExportResult = (
  project: Project,
  request: QueryReference & { readonly version: number | null },
  format: ExportFormat,
  signal: AbortSignal,
) => Promise<WholeResult>

const LINE_BREAK = 0x0a

export function createExportResult(dependencies: {
  readonly prepare: PrepareStatement
  readonly runner: StatementRunner
  readonly queries: SavedQueryStore
}): ExportResult {
  const { prepare, runner, queries } = dependencies
  return async (project, request, format, signal) => {
    const query = await resolveQuery(queries, project, request)
    const prepared = await prepare(project, { ...query, version: request.version })
    return { bytes: await bytesOf(prepared, format, signal), warnings: prepared.warnings }
  }

  async function bytesOf(
    prepared: PreparedStatement,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    switch (format) {
      case 'csv':
        return toCsv(await runner.rows(prepared, signal), cleanerOf(prepared))
      case 'ndjson':
        return toNdjson(await runner.rows(prepared, signal), cleanerOf(prepared))
      case 'arrow':
      case 'parquet':
        if (!isPlainQuery(prepared)) {
          throw invalidArgument(`format ${format} is only for SELECT; csv and ndjson take every statement`)
        }
        if (format === 'arrow' && prepared.statement.hasTotals) {
          throw invalidArgument('format arrow takes no WITH TOTALS; WITH ROLLUP gives them as a row')
        }
        return runner.bytes(prepared, format, signal)
      default:
        throw new Error(`no format ${String(format satisfies never)}`)
    }
  }
}

/** The engine's own bytes of anything else could not be cleaned, or are no rows of a query. */
function isPlainQuery({ statement: { isWrapped, isDescribe, isCleaned } }: PreparedStatement): boolean {
  return isWrapped && !isDescribe && !isCleaned
}

function cleanerOf({ statement }: PreparedStatement): ((text: string) => string) | undefined {
  return statement.isCleaned ? hideInsides : undefined
}

/** Rows with the values of the JSON answers, one a line. */
async function* toNdjson(
  stream: RowStream,
  clean: ((text: string) => string) | undefined,
): AsyncGenerator<Uint8Array> {
  const { columns, types } = readColumns(stream.names, stream.types)
  const encode = createRowEncoder(columns, types, clean)
  for await (const block of stream.blocks) {
    const { bytes, ends } = encode(block)
    let start = 0
    let at = 0
    for (const end of ends) {
      bytes.copyWithin(at, start, end - 2)
      at += end - 2 - start
      bytes[at++] = LINE_BREAK
      start = end
    }
    yield bytes.subarray(0, at)
  }
}

/** RFC 4180, with the names of the columns first and the values of the JSON answers; NULL is nothing. */
async function* toCsv(
  stream: RowStream,
  clean: ((text: string) => string) | undefined,
): AsyncGenerator<Uint8Array> {
  const { columns, types } = readColumns(stream.names, stream.types)
  const readRow = createRowReader(types)
  yield Buffer.from(`${columns.map(({ name }) => quote(name)).join(',')}\r\n`)
  for await (const block of stream.blocks) {
    const rows = linesOf(block).map((line) => readRow(line).map(csvField).join(','))
    const text = `${rows.join('\r\n')}\r\n`
    yield Buffer.from(clean ? clean(text) : text)
  }
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  return quote(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The empty text is quoted, which tells it from NULL. */
function quote(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
