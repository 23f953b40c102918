import type { RollbackAnswer } from '@millrace/contract'
import { projectPath, requestWithRetry, type Connection, type RetryOptions } from '../client/request.ts'
import { createBatches } from './batches.ts'
import { gatherBlock, type Block, type Context } from './block-context.ts'

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
  /** Called with every warning of the service, e.g. that a channel has no address yet (IN-7). */
  readonly onWarning?: (warning: string) => void
  /** Stops retrying; what was not sent yet is dropped and must be processed again. */
  readonly signal?: AbortSignal
}

/** Sends what handlers emit, block by block, in order, each batch exactly once (IN-2). */
export interface Processor {
  /**
   * Runs `handler` for a block and keeps its records for the next batch; sends when a batch is full, and then waits
   * for the batch before it. A handler that throws leaves no record of the block. Call it once a block.
   */
  block(block: Block, handler: (context: Context) => void | Promise<void>): Promise<void>
  /** Sends what is kept and resolves when the service has everything on disk. */
  flush(): Promise<void>
  /** Sends what is kept, then removes every record of `chain` above `blockNumber` (IN-3). */
  rollback(chain: string, blockNumber: number): Promise<RollbackAnswer>
}

/**
 * A processor of `project`. One request is under way at a time. A batch that finds the service away, restarting or
 * busy is sent again under the same id until it is accepted; one that is refused rejects the call and all later ones.
 */
export function createProcessor(options: ProcessorOptions): Processor {
  const { project, version, retry, signal, onWarning } = options
  const base = `/ingest/${projectPath(project)}`
  const withSignal = signal === undefined ? {} : { signal }

  const batches = createBatches({
    maxRecords: options.maxBatchRecords ?? 5000,
    maxBytes: options.maxBatchBytes ?? 4 * 1024 * 1024,
    async send({ id, text }) {
      const answer = await requestWithRetry(
        options,
        {
          method: 'POST',
          path: `${base}/batch`,
          query: { batchId: id, version },
          body: { contentType: 'application/x-ndjson', text },
          ...withSignal,
        },
        retry,
      )
      const { warnings = [] } = (answer ?? {}) as { warnings?: readonly string[] }
      for (const warning of warnings) onWarning?.(warning)
    },
  })

  return {
    async block(block, handler) {
      const { context, lines } = gatherBlock(block)
      await handler(context)
      await batches.add(lines)
    },
    flush: () => batches.flush(),
    async rollback(chain, blockNumber) {
      await batches.flush()
      const answer = await requestWithRetry(
        options,
        { method: 'POST', path: `${base}/rollback`, json: { chain, blockNumber, version }, ...withSignal },
        retry,
      )
      batches.startAnew()
      return answer as RollbackAnswer
    },
  }
}
