import { createHash } from 'node:crypto'
import { MillraceError, projectPath, requestWithRetry, type Connection } from '@millrace/sdk'
import { csvFile } from './csv-file.ts'
import { openImportState } from './import-state.ts'
import { ndjsonFile } from './ndjson-file.ts'
import { parquetFile } from './parquet-file.ts'
import { createRowToRecord, type Mapping } from './row-to-record.ts'
import type { SourceFile } from './source-row.ts'
import { UsageError } from '../usage-error.ts'

/** The formats of files, as told by their names. */
export const FORMATS = ['ndjson', 'csv', 'tsv', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

/** One file and where it goes. */
export interface ImportOptions {
  readonly connection: Connection
  readonly project: string
  readonly path: string
  readonly format: Format | undefined
  /** Null: the lines of an NDJSON file are records already. */
  readonly mapping: Mapping | null
  readonly batchRows: number
  readonly version: number | undefined
  /** Called after each batch. */
  readonly onProgress: (fraction: number, rows: number) => void
  readonly onWarning: (warning: string) => void
}

/** What an import did. */
export interface Imported {
  readonly rows: number
  /** Rows of an import before that was interrupted; they were not sent again. */
  readonly resumedAt: number
  /** Rows that the service had already. */
  readonly repeatedRows: number
}

/** A body stays below the limit of the service. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024

/**
 * Imports a file in batches, one after the other, each under an id made of its content and its place in the file: an import that is interrupted goes
 * on where it was, and one that is repeated changes nothing (IN-2).
 */
export async function runImport(options: ImportOptions): Promise<Imported> {
  const { project, path, mapping, batchRows, version } = options
  const file = await openFile(options)
  const toRecord = mapping ? createRowToRecord(mapping) : null
  const state = openImportState(path, { project, mapping, batchRows, version })
  const resumedAt = state.doneRows
  let done = resumedAt
  let repeatedRows = 0
  let lines: string[] = []
  let bytes = 0
  let underway: Promise<void> = Promise.resolve()

  async function sendBatch(): Promise<void> {
    const text = lines.join('\n')
    const first = done + 1
    const last = done + lines.length
    lines = []
    bytes = 0
    done = last
    // One batch is sent while the next is read.
    await underway
    underway = settle(text, first, last)
    underway.catch(() => undefined)
  }

  async function settle(text: string, first: number, last: number): Promise<void> {
    if (await send(options, text, first, last)) repeatedRows += last - first + 1
    state.save(last)
    options.onProgress(file.progress(), last)
  }

  for await (const row of file.rows(resumedAt)) {
    const line = toLine(row, toRecord, done + lines.length + 1)
    lines.push(line)
    bytes += line.length
    if (lines.length === batchRows || bytes >= MAX_BATCH_BYTES) await sendBatch()
  }
  if (lines.length > 0) await sendBatch()
  await underway
  state.clear()
  return { rows: done, resumedAt, repeatedRows }
}

function toLine(
  row: string | Readonly<Record<string, unknown>>,
  toRecord: ReturnType<typeof createRowToRecord> | null,
  number: number,
): string {
  if (typeof row === 'string' && !toRecord) return row
  try {
    const cells = typeof row === 'string' ? (JSON.parse(row) as Readonly<Record<string, unknown>>) : row
    return JSON.stringify(toRecord ? toRecord(cells) : cells, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
  } catch (error) {
    throw new Error(`row ${number}: ${(error as Error).message}`, { cause: error })
  }
}

async function send(
  { connection, project, version, onWarning }: ImportOptions,
  text: string,
  first: number,
  last: number,
): Promise<boolean> {
  const hash = createHash('sha256').update(`${first}\n${text}`).digest('base64url')
  try {
    const answer = (await requestWithRetry(connection, {
      method: 'POST',
      path: `/ingest/${projectPath(project)}/batch`,
      query: { batchId: `import-${hash}`, version },
      body: { contentType: 'application/x-ndjson', text },
    })) as { readonly isRepeated: boolean; readonly warnings: readonly string[] }
    for (const warning of answer.warnings) onWarning(warning)
    return answer.isRepeated
  } catch (error) {
    if (!(error instanceof MillraceError) || error.status !== 400) throw error
    const place = `rows ${first} to ${last} were refused; line 1 is row ${first}`
    throw new Error(`${place}: ${error.message}\nThe rows before are imported.`, {
      cause: error,
    })
  }
}

async function openFile({ path, format, mapping }: ImportOptions): Promise<SourceFile> {
  const kind = format ?? formatOf(path)
  if (kind !== 'ndjson' && !mapping) {
    throw new UsageError(`--as is needed for ${kind}: what rows become, e.g. --as event:Transfer`)
  }
  if (kind === 'parquet') return parquetFile(path)
  return kind === 'ndjson' ? ndjsonFile(path) : csvFile(path, kind === 'tsv' ? '\t' : ',')
}

function formatOf(path: string): Format {
  const [, extension = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(path) ?? []
  const name = /^jsonl?$/i.test(extension) ? 'ndjson' : extension.toLowerCase()
  const format = FORMATS.find((each) => each === name)
  if (!format)
    throw new UsageError(`--format must be one of ${FORMATS.join(', ')}: the name of ${path} does not tell`)
  return format
}
