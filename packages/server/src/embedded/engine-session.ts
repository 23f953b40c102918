import { parentPort, workerData } from 'node:worker_threads'
import { Session, type ChdbQueryStream } from 'chdb'
import { chunkSeams, type ChunkSeams } from './chunk-seams.ts'
import type { EngineStatement, SessionOrder, SessionReport } from './engine-messages.ts'
import { FRESH_SESSION, parameterStatement, statementsBetween, type SessionState } from './engine-settings.ts'
import { insertBytes } from './native.ts'
import { insertFromFile } from './rows-file.ts'

/**
 * One session on a thread of its own. Starting a stream analyses the statement, which computes scalar sub-queries on
 * the calling thread: on the process's main thread that would hold every other statement, and the KILL that should end it.
 */

// Chunks on their way to the caller before the engine waits for it; a chunk is about 65 000 rows.
const CHUNKS_AHEAD = 3

const port = parentPort
if (!port) throw new Error('engine-session is started as a worker thread')
const directory = (workerData as { directory: string }).directory

let session = new Session(directory)
let state: SessionState = FRESH_SESSION
let stream: ChdbQueryStream | null = null
let isCancelled = false
let credit = 0
let grant: (() => void) | null = null

function report(message: SessionReport): void {
  port?.postMessage(message)
}

function renew(): void {
  session.close()
  session = new Session(directory)
  state = FRESH_SESSION
}

async function prepare(statement: EngineStatement): Promise<void> {
  const wanted: SessionState = { database: statement.database, settings: statement.settings }
  for (const sql of statementsBetween(state, wanted)) await session.queryAsync(sql)
  state = wanted
  const binding = parameterStatement(statement.parameters)
  if (binding !== null) await session.queryAsync(binding)
}

async function streamRows(sql: string, format: string, seams: ChunkSeams): Promise<void> {
  stream = session.queryStream(sql, { format })
  let isFirst = true
  for await (const chunk of stream) {
    if (isCancelled) break
    report({ kind: 'chunk', bytes: seams.take(chunk.raw(), isFirst) })
    isFirst = false
    credit--
    // oxlint-disable-next-line no-unmodified-loop-condition -- changed by the port's messages
    while (credit <= 0 && !isCancelled) {
      await new Promise<void>((resolve) => {
        grant = resolve
      })
    }
  }
  if (seams.end && !isFirst) report({ kind: 'chunk', bytes: seams.end })
}

/** False when only the whole result can be had: just SELECT streams, and the engine's parser decides what is one. */
async function isStreamed(sql: string, format: string, seams: ChunkSeams): Promise<boolean> {
  try {
    await streamRows(sql, format, seams)
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
    if (isDone) return { kind: 'done', writtenRows: 0, writtenBytes: statement.body.byteLength }
    const written = await insertBytes(session.connection, tagged, statement.body)
    return { kind: 'done', writtenRows: written.rowsWritten, writtenBytes: written.bytesWritten }
  }
  // The tag stands behind the statement, so that positions in syntax errors are those of the statement itself. Behind
  // the rows of an INSERT … VALUES it would be read as one.
  const tag = `/* ${statement.tag} */`
  const sql = /^\s*insert\b/i.test(statement.sql) ? `${tag} ${statement.sql}` : `${statement.sql}\n${tag}`
  const seams = chunkSeams(statement.format)
  if (!seams || !(await isStreamed(sql, statement.format, seams))) {
    const result = await session.queryAsync(sql, { format: statement.format })
    const bytes = result.bytes()
    if (bytes.length > 0) report({ kind: 'chunk', bytes })
  }
  if (isCancelled) throw new Error('Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)')
  return { kind: 'done', writtenRows: 0, writtenBytes: 0 }
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
  // Parameters cannot be unset and readonly cannot be left: the next statement, perhaps another project's, must not see
  // them. A failed statement stays in the engine's list of running ones, with its memory, until its session is closed.
  const isSpoiled =
    !isWhole || Object.keys(statement.parameters).length > 0 || statement.settings['readonly'] !== undefined
  if (isSpoiled) renew()
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
    case 'cancel':
      isCancelled = true
      stream?.cancel()
      grant?.()
      break
    case 'close':
      session.close()
      port.close()
      break
  }
})
report({ kind: 'ready' })
