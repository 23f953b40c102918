import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { ChainBlock, ChainEvent, KnownBlocks, Step } from './chain-block.ts'
import { decodeLog } from './decode-log.ts'

/** A line of a recording: a raw log with its block. `block_time` in unix seconds. */
interface RecordedLog {
  readonly chain: string
  readonly block_number: number
  readonly block_time: number
  readonly block_hash: string | null
  readonly transaction_hash: string
  readonly transaction_index: number
  readonly log_index: number
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

interface RecordingOptions {
  /** NDJSON, or NDJSON.gz, ordered by chain, block and log. */
  readonly path: string
  /** Added to every block's time. */
  readonly shiftSeconds: number
  /** Lines of the recording, for the progress. */
  readonly lines: number
  readonly known: KnownBlocks
}

const CHAIN_IDS: Readonly<Record<string, string>> = { ethereum: '1', polygon: '137' }
const PROGRESS_LINES = 2000

/** Replays a recording from the first block that the service does not have. Ends with it. */
export async function* recordedBlocks(options: RecordingOptions): AsyncGenerator<Step> {
  let log: RecordedLog | null = null
  let events: ChainEvent[] = []
  const close = (): Step[] => {
    if (log === null || events.length === 0) return []
    const step: Step = { kind: 'block', block: blockOf(log, events, options.shiftSeconds) }
    events = []
    return [step]
  }
  let done = 0
  for await (const next of readRecording(options.path)) {
    if (log === null || log.chain !== next.chain || log.block_number !== next.block_number) {
      yield* close()
      log = next
    }
    const lastKnown = options.known.get(chainIdOf(next))?.[0]?.number ?? -1
    const event = next.block_number > lastKnown ? decodeLog(rawLogOf(next)) : null
    if (event !== null) events.push(event)
    done += 1
    if (done % PROGRESS_LINES === 0) yield { kind: 'progress', done, total: options.lines }
  }
  yield* close()
  yield { kind: 'progress', done, total: options.lines }
  yield { kind: 'current' }
}

/** Counts a recording and finds the time of its last block, in unix seconds. */
export async function surveyRecording(
  path: string,
): Promise<{ readonly lines: number; readonly lastSeconds: number }> {
  let lines = 0
  let lastSeconds = 0
  for await (const log of readRecording(path)) {
    lines += 1
    if (log.block_time > lastSeconds) lastSeconds = log.block_time
  }
  if (lines === 0) throw new Error(`${path} holds no logs`)
  return { lines, lastSeconds }
}

async function* readRecording(path: string): AsyncGenerator<RecordedLog> {
  const file = createReadStream(path)
  const input: Readable = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  // Errors of the file do not travel through a pipe by themselves.
  file.on('error', (error) => input.destroy(error))
  let number = 0
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    number += 1
    if (line.trim() !== '') yield parseLine(line, `${path}, line ${number}`)
  }
}

function parseLine(line: string, where: string): RecordedLog {
  let log: Partial<RecordedLog>
  try {
    log = JSON.parse(line) as Partial<RecordedLog>
  } catch (cause) {
    throw new Error(`${where}: not JSON`, { cause })
  }
  if (
    !Number.isSafeInteger(log.block_number) ||
    !Number.isSafeInteger(log.block_time) ||
    typeof log.chain !== 'string' ||
    typeof log.address !== 'string' ||
    typeof log.data !== 'string' ||
    !Array.isArray(log.topics)
  ) {
    throw new Error(
      `${where}: a log has chain, block_number, block_time (unix seconds), address, topics and data`,
    )
  }
  return log as RecordedLog
}

function chainIdOf(log: RecordedLog): string {
  return CHAIN_IDS[log.chain] ?? log.chain
}

function rawLogOf(log: RecordedLog) {
  return {
    transactionHash: log.transaction_hash,
    transactionIndex: log.transaction_index,
    logIndex: log.log_index,
    address: log.address,
    topics: log.topics,
    data: log.data,
  }
}

function blockOf(log: RecordedLog, events: readonly ChainEvent[], shiftSeconds: number): ChainBlock {
  return {
    chain: chainIdOf(log),
    number: log.block_number,
    hash: log.block_hash,
    timeSeconds: log.block_time + shiftSeconds,
    events,
  }
}
