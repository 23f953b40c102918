import { createHash } from 'node:crypto'
import { MillraceError, projectPath, requestWithRetry, type Connection } from '@millrace/sdk'
import { csvFile } from './csv-file.ts'
import { openImportState, type Done } from './import-state.ts'
import { ndjsonFile } from './ndjson-file.ts'
import { parquetFile } from './parquet-file.ts'
import { parseExactly } from './parse-exactly.ts'
import { checkColumns } from './check-columns.ts'
import { createRowToRecord, type Mapping } from './row-to-record.ts'
import type { PlacedRow, SourceFile, SourceRow } from './source-row.ts'
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
  /** Called before each wait for a service that is away or busy. */
  readonly onWaiting?: (reason: Error, waitMs: number) => void
  /** Told every row that cannot be taken, and the others are imported. Absent: the first such row ends the import. */
  readonly onBadRow?: ((row: BadRow) => void) | undefined
}

/** A row that is left out. */
export interface BadRow {
  /** Where it stands, e.g. `line 17`. */
  readonly place: string
  readonly reason: string
  /** The record that was made of it, or the line as it is written; empty where the row could not be read. */
  readonly text: string
}

/** What an import did. */
export interface Imported {
  readonly rows: number
  /** Rows of an import before that was interrupted; they were not sent again. */
  readonly resumedAt: number
  /** Rows that the service had already. */
  readonly repeatedRows: number
  /** Rows that were left out, in this run. */
  readonly badRows: number
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
  const resumedAt = state.done.rows
  // Of a file that was mended meanwhile the rows that are done are read again: they must be what they were.
  let done: Done = state.hasChanged ? { rows: 0, hash: '' } : state.done
  let repeatedRows = 0
  let badRows = 0
  let batch = createBatch(done)
  let underway: Promise<void> = Promise.resolve()
  let areColumnsChecked = false

  function leaveOut(row: BadRow): void {
    if (!options.onBadRow) throw new BadRowError(path, row)
    badRows++
    options.onBadRow(row)
  }

  async function endBatch(): Promise<void> {
    const { lines, unread } = batch
    const first = done.rows + 1
    done = batch.end()
    const end = done
    batch = createBatch(done)
    if (first <= resumedAt) {
      const isAsBefore = end.rows < resumedAt || (end.rows === resumedAt && end.hash === state.done.hash)
      if (!isAsBefore) throw hasChanged(path, resumedAt)
      return
    }
    // One batch is sent while the next is read.
    await underway
    for (const row of unread) leaveOut(row)
    underway = settle(lines, first, end)
    underway.catch(() => undefined)
  }

  async function settle(lines: readonly Line[], first: number, end: Done): Promise<void> {
    if (await send(options, lines, first, leaveOut)) repeatedRows += end.rows - first + 1
    state.save(end)
    options.onProgress(file.progress(), end.rows)
  }

  for await (const row of file.rows(done.rows)) {
    if (mapping && !areColumnsChecked && isRow(row.content)) {
      checkColumns(row.content, mapping)
      areColumnsChecked = true
    }
    batch.add(row, toLine(row, toRecord))
    if (batch.rows === batchRows || batch.bytes >= MAX_BATCH_BYTES) await endBatch()
  }
  if (batch.rows > 0) await endBatch()
  await underway
  if (done.rows < resumedAt) throw hasChanged(path, resumedAt)
  state.clear()
  return { rows: done.rows, resumedAt, repeatedRows, badRows }
}

function hasChanged(path: string, rows: number): Error {
  return new Error(
    `the first ${rows} rows of ${path}, which are imported, have changed since; to go on would lose rows or store them twice`,
  )
}

/** A record as it is sent, and where its row stands. */
interface Line {
  readonly place: string
  readonly text: string
}

/** Rows that are sent together. */
function createBatch(before: Done) {
  const hash = createHash('sha256').update(before.hash)
  const lines: Line[] = []
  const unread: BadRow[] = []
  let bytes = 0
  return {
    lines,
    /** Rows that no record could be made of. */
    unread,
    get rows() {
      return lines.length + unread.length
    },
    get bytes() {
      return bytes
    },
    add({ place, content }: PlacedRow, made: Line | { readonly reason: string }): void {
      const text = 'text' in made ? made.text : made.reason
      hash.update(text).update('\n')
      bytes += text.length
      if ('text' in made) lines.push(made)
      else unread.push({ place, reason: made.reason, text: typeof content === 'string' ? content : '' })
    },
    end: (): Done => ({ rows: before.rows + lines.length + unread.length, hash: hash.digest('base64url') }),
  }
}

/** Ends an import at a row that cannot be taken. */
class BadRowError extends Error {
  constructor(path: string, { place, reason }: BadRow) {
    super(
      `${path}, ${place}: ${reason}\nNothing of its batch is imported. Mend the file and repeat the command, or give --bad-rows <file> to leave out what cannot be taken.`,
    )
  }
}

function toLine(
  { place, content }: PlacedRow,
  toRecord: ReturnType<typeof createRowToRecord> | null,
): Line | { readonly reason: string } {
  if (content instanceof Error) return { reason: content.message }
  if (typeof content === 'string' && !toRecord) return { place, text: content }
  try {
    const cells = typeof content === 'string' ? cellsOf(content) : content
    const text = JSON.stringify(toRecord ? toRecord(cells) : cells, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    return { place, text }
  } catch (error) {
    return { reason: (error as Error).message }
  }
}

/** Is it a row of a file that has a header, rather than a line that is yet to be parsed? */
function isRow(content: PlacedRow['content']): content is SourceRow {
  return typeof content === 'object' && !(content instanceof Error)
}

function cellsOf(line: string): Readonly<Record<string, unknown>> {
  const cells = parseExactly(line)
  if (typeof cells === 'object' && cells !== null && !Array.isArray(cells)) {
    return cells as Readonly<Record<string, unknown>>
  }
  throw new Error('is no JSON object')
}

/** Sends a batch, without those of its lines that the service refuses where these may be left out. Tells whether the service had it already. */
async function send(
  options: ImportOptions,
  lines: readonly Line[],
  first: number,
  leaveOut: (row: BadRow) => void,
): Promise<boolean> {
  let left = lines
  while (left.length > 0) {
    try {
      return await sendLines(options, left, first)
    } catch (error) {
      const faults = faultsOf(error)
      if (faults.size === 0) throw error
      for (const [index, reason] of faults) {
        const { place = '', text = '' } = left[index] ?? {}
        leaveOut({ place, reason, text })
      }
      left = left.filter((_line, index) => !faults.has(index))
    }
  }
  return false
}

async function sendLines(
  { connection, project, version, onWarning, onWaiting }: ImportOptions,
  lines: readonly Line[],
  first: number,
): Promise<boolean> {
  const text = lines.map((line) => line.text).join('\n')
  const hash = createHash('sha256').update(`${first}\n${text}`).digest('base64url')
  const answer = (await requestWithRetry(
    connection,
    {
      method: 'POST',
      path: `/ingest/${projectPath(project)}/batch`,
      query: { batchId: `import-${hash}`, version },
      body: { contentType: 'application/x-ndjson', text },
    },
    onWaiting ? { onRetry: (error, _attempt, waitMs) => onWaiting(error, waitMs) } : {},
  )) as { readonly isRepeated: boolean; readonly warnings: readonly string[] }
  for (const warning of answer.warnings) onWarning(warning)
  return answer.isRepeated
}

/** The lines that a batch was refused for, from 0, each with the reason; none when it was refused for something else. */
function faultsOf(error: unknown): ReadonlyMap<number, string> {
  const faults = new Map<number, string>()
  if (!(error instanceof MillraceError) || error.status !== 400) return faults
  for (const detail of error.details) {
    const { line, field, message } = detail as Readonly<Record<string, unknown>>
    if (typeof line !== 'number' || faults.has(line - 1)) continue
    const reason =
      typeof field === 'string' ? `${field} ${String(message)}` : error.message.replace(/^line \d+ /, '')
    faults.set(line - 1, reason)
  }
  return faults
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
