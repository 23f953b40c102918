import { parentPort, workerData } from 'node:worker_threads'
import { Session, type ChdbQueryStream } from 'chdb'
import { chunkSeams, type ChunkSeams } from './chunk-seams.ts'
import type { EngineStatement, SessionOrder, SessionReport } from './engine-messages.ts'
import { FRESH_SESSION, parameterStatement, statementsBetween, type SessionState } from './engine-settings.ts'
import { insertBytes } from './native.ts'
import { fileResult } from './result-file.ts'
import { insertFromFile } from './rows-file.ts'

/**
 * One session on a thread of its own. Starting a stream analyses the statement, which computes scalar sub-queries on
 * the calling thread: on the process's main thread that would hold every other statement, and the KILL that should end it.
 */

// Chunks on their way to the caller before the engine waits for it; a chunk is about 65 000 rows. The room of the first is not given back.
const CHUNKS_AHEAD = 4
/** A chunk with fewer rows than a block may be the last. */
const BLOCK_ROWS = 16_384
/** A chunk this short is perhaps all there is: it waits this long for the end of its result, so that both wake the receiver once. */
const SHORT_BYTES_MAX = 64 * 1024
const END_WITHIN_MS = 2
const CANCELLED = 'Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)'

const port = parentPort
if (!port) throw new Error('engine-session is started as a worker thread')
const directory = (workerData as { directory: string }).directory

let session = new Session(directory)
let state: SessionState = FRESH_SESSION
let stream: ChdbQueryStream | null = null
/** Names of the parameters that the session still knows from earlier statements. */
const bound = new Set<string>()
let isCancelled = false
let credit = 0
let grant: (() => void) | null = null
let goOn: (() => void) | null = null
/** The last chunk so far, while it waits for the end. */
let held: Uint8Array | null = null
let holding: NodeJS.Timeout | undefined

function report(message: SessionReport): void {
  port?.postMessage(message)
}

function renew(): void {
  session.close()
  session = new Session(directory)
  state = FRESH_SESSION
  bound.clear()
}

async function prepare(statement: EngineStatement): Promise<void> {
  const wanted: SessionState = { database: statement.database, settings: statement.settings }
  if (isSpoiledFor(statement)) renew()
  for (const sql of statementsBetween(state, wanted)) await session.queryAsync(sql)
  state = wanted
  const binding = parameterStatement(statement.parameters)
  if (binding !== null) await session.queryAsync(binding)
  for (const name of Object.keys(statement.parameters)) bound.add(name)
}

/**
 * `readonly` cannot be left, and parameters cannot be unset: a statement, perhaps another project's, must not see values that are not its own. The
 * service's own statements spell the names of what they use; a user's may write them in any way, and gets a session without any.
 */
function isSpoiledFor({ settings, parameters, sql }: EngineStatement): boolean {
  const isReadOnly = settings['readonly'] !== undefined
  if (state.settings['readonly'] !== undefined && !isSame(state.settings, settings)) return true
  return [...bound].some((name) => isReadOnly || (!(name in parameters) && sql.includes(name)))
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** Hands out a chunk, or holds it for a moment, and waits until there is room for another. */
async function give(bytes: Uint8Array): Promise<void> {
  handOut()
  held = bytes
  if (bytes.byteLength > SHORT_BYTES_MAX) handOut()
  else holding = setTimeout(handOut, END_WITHIN_MS)
  // oxlint-disable-next-line no-unmodified-loop-condition -- changed by the port's messages
  while (credit <= 0 && !isCancelled) {
    await new Promise<void>((resolve) => {
      grant = resolve
    })
  }
}

function handOut(): void {
  const bytes = takeHeld()
  if (!bytes) return
  report({ kind: 'chunk', bytes })
  credit--
}

function takeHeld(): Uint8Array | null {
  const bytes = held
  held = null
  clearTimeout(holding)
  return bytes
}

/** The engine forgets a statement with the fetch that finds its end: what it has read is to be learned before. */
async function awaitCount(): Promise<void> {
  const counted = Promise.withResolvers<void>()
  goOn = counted.resolve
  report({ kind: 'count' })
  await counted.promise
}

/** What an empty result has taken is what its indexes have left to read. */
async function estimateRead(sql: string): Promise<void> {
  const result = await session.queryAsync(`explain estimate ${sql}`, { format: 'TSV' }).catch(() => null)
  const lines = (result?.text() ?? '').split('\n').filter((line) => line !== '')
  report({ kind: 'read', rows: lines.reduce((sum, line) => sum + Number(line.split('\t')[3]), 0) })
}

async function streamRows(
  sql: string,
  { format, isCounted }: EngineStatement,
  seams: ChunkSeams,
): Promise<void> {
  stream = session.queryStream(sql, { format })
  let isFirst = true
  let rowCount = 0
  for await (const chunk of stream) {
    if (isCancelled) break
    await give(seams.take(chunk.raw(), isFirst))
    isFirst = false
    rowCount += chunk.numRows
    // The header of an empty result comes before anything is read.
    if (isCounted && !isCancelled && chunk.numRows < BLOCK_ROWS && rowCount > 0) await awaitCount()
  }
  if (isCounted && !isCancelled && rowCount === 0) await estimateRead(sql)
  if (seams.end && !isFirst) await give(seams.end)
}

/** False when only the whole result can be had: just SELECT streams, and the engine's parser decides what is one. */
async function isStreamed(sql: string, statement: EngineStatement, seams: ChunkSeams): Promise<boolean> {
  try {
    await streamRows(sql, statement, seams)
    return true
  } catch (error) {
    if (String(error).includes('Streaming query is not supported')) return false
    throw error
  }
}

async function execute(statement: EngineStatement): Promise<SessionReport> {
  if (statement.body !== null) {
    const tagged = `/* ${statement.tag} */ ${statement.sql}`
    const isDone = await insertFromFile(directory, tagged, statement.body, async (sql) => {
      await session.queryAsync(sql)
      return true
    })
    if (isDone) return done(0, statement.body.byteLength)
    const written = await insertBytes(session.connection, tagged, statement.body)
    return done(written.rowsWritten, written.bytesWritten)
  }
  // The tag stands behind the statement, so that positions in syntax errors are those of the statement itself. Behind
  // the rows of an INSERT … VALUES it would be read as one.
  const tag = `/* ${statement.tag} */`
  const sql = /^\s*insert\b/i.test(statement.sql) ? `${tag} ${statement.sql}` : `${statement.sql}\n${tag}`
  const file = fileResult(directory, statement, (clause) =>
    session.queryAsync(`${statement.sql}\n${clause}\n${tag}`),
  )
  if (file) {
    for await (const bytes of file) {
      if (isCancelled) break
      await give(bytes)
    }
    if (isCancelled) throw new Error(CANCELLED)
    return done(0, 0)
  }
  const seams = statement.isWhole ? null : chunkSeams(statement.format)
  if (!seams || !(await isStreamed(sql, statement, seams))) {
    const result = await session.queryAsync(sql, { format: statement.format })
    const bytes = result.bytes()
    if (bytes.length > 0) held = bytes
  }
  if (isCancelled) throw new Error(CANCELLED)
  return done(0, 0)
}

function done(writtenRows: number, writtenBytes: number): SessionReport {
  return { kind: 'done', last: takeHeld(), writtenRows, writtenBytes }
}

async function run(statement: EngineStatement): Promise<void> {
  isCancelled = false
  credit = CHUNKS_AHEAD
  let last: SessionReport
  let isWhole = false
  try {
    await prepare(statement)
    last = await execute(statement)
    isWhole = true
  } catch (error) {
    last = { kind: 'failed', message: error instanceof Error ? error.message : String(error) }
  }
  stream = null
  takeHeld()
  // A failed statement stays in the engine's list of running ones, with its memory, until its session is closed.
  if (!isWhole) renew()
  report(last)
}

port.on('message', (order: SessionOrder) => {
  switch (order.kind) {
    case 'run':
      void run(order.statement)
      break
    case 'more':
      credit++
      grant?.()
      break
    case 'counted':
      goOn?.()
      break
    case 'cancel':
      isCancelled = true
      stream?.cancel()
      grant?.()
      goOn?.()
      break
    case 'close':
      session.close()
      port.close()
      break
  }
})
report({ kind: 'ready' })
