import { nextTurn } from './next-turn.ts'
import { isUtf8 } from 'node:buffer'
import { invalidArgument } from '../platform/errors.ts'
import { checkJsonSize } from '../platform/json-limit.ts'
import { hasLongNumber } from './exact-number.ts'
import type { Sample, Series } from './batch.ts'
import { elementsOf, membersOf, type Span } from './scan-json.ts'
import type { SampleScanner } from './scan-sample.ts'

/** A record as it was sent: parsed, and its text where digits, key order or bytes matter. */
export interface SentRecord {
  readonly value: unknown
  /** Whether a number in it may have lost digits when it was parsed. */
  readonly mayHoldLongNumbers: boolean
  /** The text of a member, or of a member of a member, which must exist. */
  written(...path: readonly string[]): string
  /** Told the series once the record is found to be a sample, so that lines like it are read at once. */
  onSeries?(series: Series): void
}

/** What a body holds. As NDJSON the lines are the records and nothing else is in the body. */
export interface SentBatch {
  readonly batchId: string | null
  /** Null: the active version. */
  readonly version: number | null
  /** In order; a sample is one that was read already. */
  readonly records: readonly (SentRecord | Sample)[]
  /** The line of a record, from 1, where records are lines. */
  lineOf?(index: number): number
}

/** Read in one go before other requests get their turn; half a millisecond. */
const LINES_PER_TURN = 200
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const LINE_FEED = 0x0a

/** Do these media types announce one record a line? */
export function isNdjson(contentType: string | undefined): boolean {
  return /^\s*application\/(x-ndjson|ndjson|jsonl|x-jsonlines|jsonlines)\s*(;|$)/i.test(contentType ?? '')
}

/**
 * Parses a body; plain lines are read by `scanner`. Throws `invalid_argument` naming the line or position of the first malformed JSON, and
 * `payload_too_large` for one object of more than `MAX_JSON_BYTES` (ER-5).
 */
export async function parseBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  scanner: SampleScanner,
): Promise<SentBatch> {
  if (!isUtf8(bytes)) throw invalidArgument('the body must be UTF-8')
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const hasMark = whole.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  const body = hasMark ? whole.subarray(BYTE_ORDER_MARK.length) : whole
  if (!isNdjson(contentType)) {
    checkJsonSize(body, '; send more as NDJSON, one record a line, with content-type application/x-ndjson')
    return parseJson(body.toString())
  }
  return {
    batchId: null,
    version: null,
    records: await parseLines(body, scanner),
    lineOf: (index) => lineOf(body, index),
  }
}

/** Counted only for records at fault: blank lines are none. */
function lineOf(body: Buffer, index: number): number {
  let records = 0
  let line = 0
  for (let start = 0; start < body.length && records <= index;) {
    const newline = body.indexOf(LINE_FEED, start)
    const end = newline === -1 ? body.length : newline
    if (body.subarray(start, end).toString().trim() !== '') records++
    line++
    start = end + 1
  }
  return line
}

async function parseLines(body: Buffer, scanner: SampleScanner): Promise<(SentRecord | Sample)[]> {
  const records: (SentRecord | Sample)[] = []
  let line = 0
  let start = 0
  while (start < body.length) {
    const newline = body.indexOf(LINE_FEED, start)
    const end = newline === -1 ? body.length : newline
    line++
    const sample = scanner.scan(body, start, end, records.length)
    if (sample) records.push(sample)
    else {
      const written = body.subarray(start, end)
      const learn = (series: Series) => {
        scanner.learn(written, 0, written.length, series)
      }
      const content = written.toString()
      if (content.trim() !== '') records.push({ ...parseLine(content, line), onSeries: learn })
    }
    if (line % LINES_PER_TURN === 0) await nextTurn()
    start = end + 1
  }
  return records
}

function parseLine(content: string, line: number): SentRecord {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch (error) {
    throw invalidArgument(`line ${line} is not valid JSON: ${(error as Error).message}`, [{ line }])
  }
  return {
    value,
    mayHoldLongNumbers: hasLongNumber(content),
    written: (...path) => sliceOf(content, { start: 0, end: content.length }, path),
  }
}

function parseJson(text: string): SentBatch {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw invalidArgument(`the body is not valid JSON: ${(error as Error).message}`)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidArgument(
      'the body must be an object with records, or NDJSON with content-type application/x-ndjson',
    )
  }
  const { records, version, ...rest } = body as Readonly<Record<string, unknown>>
  if (!Array.isArray(records)) throw invalidArgument('records is required and must be an array')
  const mayHoldLongNumbers = hasLongNumber(text)
  let spans: Span[] | undefined
  const spanOf = (index: number): Span => {
    spans ??= elementsOf(text, membersOf(text, 0).get('records')?.start ?? 0)
    return spans[index] ?? { start: 0, end: text.length }
  }
  return {
    batchId: readBatchId(rest['batchId'] ?? rest['batch_id']),
    version: readVersion(version),
    records: records.map((value: unknown, index) => ({
      value,
      mayHoldLongNumbers,
      written: (...path) => sliceOf(text, spanOf(index), path),
    })),
  }
}

function sliceOf(text: string, record: Span, path: readonly string[]): string {
  let span = record
  for (const name of path) {
    const member = membersOf(text, span.start).get(name)
    if (!member) throw new Error(`the record has no member ${name}`)
    span = member
  }
  return text.slice(span.start, span.end)
}

/** A batch id: 1 to 128 characters, none of them a control character. Null when absent. */
export function readBatchId(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || !/^[^\p{C}]{1,128}$/u.test(value)) {
    throw invalidArgument('batchId must be a string of 1 to 128 characters without control characters')
  }
  return value
}

/** A processor version; 0 and absent are the active one (MQ-9), given as null. */
export function readVersion(value: unknown): number | null {
  if (value === undefined || value === null) return null
  const version = typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value
  if (!Number.isInteger(version) || (version as number) < 0 || (version as number) > 0x7fff_ffff) {
    throw invalidArgument('version must be a positive integer; 0 or absent is the active version')
  }
  return version === 0 ? null : (version as number)
}
