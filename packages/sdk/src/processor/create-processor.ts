import { checkConnection } from '../client/check-connection.ts'
import {
  projectPath,
  request,
  requestWithRetry,
  type Connection,
  type RetryOptions,
} from '../client/request.ts'
import type { IngestAnswer, RollbackAnswer } from './wire.ts'
import { createBatches } from './batches.ts'
import { gatherBlock, type Block, type Context } from './block-context.ts'
import { createEntityReader } from './entity-reader.ts'
import { createEntityChanges } from './entity-store.ts'
import { createOrderedSender } from './send-in-order.ts'
import type { Spool, SpoolEntry } from './spool.ts'

/** Where a processor sends, as which version, and how much at once. */
export interface ProcessorOptions extends Connection {
  /** `owner/name`. */
  readonly project: string
  /** Processor version; absent is the active one (IN-4). */
  readonly version?: number
  /** A batch is sent when it holds this many records; default 5000. It always holds whole blocks. */
  readonly maxBatchRecords?: number
  /** A batch is sent when it holds this many bytes; default 4 MiB. */
  readonly maxBatchBytes?: number
  readonly retry?: RetryOptions
  /** Where batches wait while the service is away, e.g. `fileSpool('./spool')`. Without one the processor waits. */
  readonly spool?: Spool
  /** Called with every warning of the service, e.g. that a channel has no address yet (IN-7). */
  readonly onWarning?: (warning: string) => void
  /** Stops retrying; what was not sent yet is dropped and must be processed again, except what is in the spool. */
  readonly signal?: AbortSignal
}

/** Sends what handlers emit, block by block, in order, each batch exactly once (IN-2). */
export interface Processor {
  /**
   * Runs `handler` for a block and keeps its records for the next batch; sends when a batch is full, and then waits
   * for the batch before it. A handler that throws leaves no record of the block. Call it once a block.
   */
  block(block: Block, handler: (context: Context) => void | Promise<void>): Promise<void>
  /** Sends what is kept and resolves when the service, or the spool, has everything on disk. */
  flush(): Promise<void>
  /** As `flush`, and resolves when nothing is left in the spool. */
  drain(): Promise<void>
  /** Sends what is kept, then removes every record of `chain` above `blockNumber` (IN-3). Null: it waits in the spool. */
  rollback(chain: string, blockNumber: number): Promise<RollbackAnswer | null>
}

/** So many entities are remembered before the processor waits for the service to have them. */
const MAX_CHANGES = 50_000

/**
 * A processor of `project`. One request is under way at a time. A batch that finds the service away, restarting or
 * busy is sent again under the same id until it is accepted; one that is refused rejects the call and all later ones.
 * Throws a `TypeError` for an address, key or project that nothing can be sent to.
 */
export function createProcessor(options: ProcessorOptions): Processor {
  checkConnection(options)
  const { version, retry, signal, onWarning, spool = null } = options
  const base = `/ingest/${projectPath(options.project)}`
  const earlier = createEntityChanges()
  const source = { reader: createEntityReader(options), earlier }

  function partsOf(entry: SpoolEntry) {
    const withSignal = signal === undefined ? {} : { signal }
    if (entry.kind === 'rollback') {
      const { chain, blockNumber } = entry
      return {
        method: 'POST',
        path: `${base}/rollback`,
        json: { chain, blockNumber, version },
        ...withSignal,
      } as const
    }
    return {
      method: 'POST',
      path: `${base}/batch`,
      query: { batchId: entry.id, version },
      body: { contentType: 'application/x-ndjson', text: entry.text },
      ...withSignal,
    } as const
  }
  function tellWarnings(answer: unknown): unknown {
    const { warnings = [] } = (answer ?? {}) as Partial<IngestAnswer>
    for (const warning of warnings) onWarning?.(warning)
    return answer
  }
  const sender = createOrderedSender({
    spool,
    send: async (entry) => tellWarnings(await request(options, partsOf(entry))),
    sendPatiently: async (entry) => tellWarnings(await requestWithRetry(options, partsOf(entry), retry)),
  })
  const batches = createBatches({
    maxRecords: options.maxBatchRecords ?? 5000,
    maxBytes: options.maxBatchBytes ?? 4 * 1024 * 1024,
    send: async (batch) => void (await sender.send({ kind: 'batch', ...batch })),
  })

  /** Resolves when everything is on disk, and forgets the entities that the service has now. */
  async function flush(): Promise<void> {
    await batches.flush()
    if (!(await sender.isSpooling())) earlier.clear()
  }
  async function drain(): Promise<void> {
    await batches.flush()
    await sender.drain()
    earlier.clear()
  }

  return {
    async block(block, handler) {
      const { context, lines, metrics, changes } = gatherBlock(block, source)
      await handler(context)
      await batches.add(lines, metrics)
      earlier.merge(changes)
      if (earlier.size > MAX_CHANGES) await drain()
    },
    flush,
    drain,
    async rollback(chain, blockNumber) {
      await batches.flush()
      const answer = await sender.send({ kind: 'rollback', chain, blockNumber })
      batches.startAnew()
      // What is remembered may be of blocks that are no more: only the service can tell.
      if (answer === null && earlier.size > 0) await sender.drain()
      earlier.clear()
      return answer as RollbackAnswer | null
    },
  }
}
