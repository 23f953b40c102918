import type { Block } from '../processor/block-context.ts'
import { createProcessor, type Processor, type ProcessorOptions } from '../processor/create-processor.ts'
import { changeEntities } from './change-entities.ts'
import { emitResult } from './emit-result.ts'
import type { EntityRequest, ProcessResult } from './process-result.ts'

/** Where a bridge sends, and which channel the runtime's `GetConfig` names for each export. */
export interface BridgeOptions extends ProcessorOptions {
  readonly exportConfigs?: readonly { readonly name: string; readonly channel: string }[]
}

/** Ingests what processors written with the existing SDK, versions 2.x and 3.x, answer with. */
export interface Bridge extends Pick<Processor, 'flush' | 'drain' | 'rollback'> {
  /**
   * Takes all results of one block, in the order of its logs; call it once a block. `time` of the block is that of its records. `requests` are the
   * changes of entities that the processor asked for while it ran.
   */
  block(block: Block, results: readonly ProcessResult[], requests?: readonly EntityRequest[]): Promise<void>
}

/** A bridge into `project`. It needs nothing of the other SDK but the messages. */
export function createBridge(options: BridgeOptions): Bridge {
  const processor = createProcessor(options)
  const channelOf = new Map((options.exportConfigs ?? []).map(({ name, channel }) => [name, channel]))
  return {
    block: (block, results, requests = []) =>
      processor.block(block, async (context) => {
        for (const request of requests) await changeEntities(context, request)
        for (const result of results) emitResult(context, result, channelOf)
      }),
    flush: () => processor.flush(),
    drain: () => processor.drain(),
    rollback: (chain, blockNumber) => processor.rollback(chain, blockNumber),
  }
}
