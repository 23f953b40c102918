import type { Block } from '../processor/block-context.ts'
import { createProcessor, type Processor, type ProcessorOptions } from '../processor/create-processor.ts'
import { answerEntities } from './answer-entities.ts'
import { changeEntities } from './change-entities.ts'
import { emitResult } from './emit-result.ts'
import type { EntityAnswer, EntityRequest } from './entity-messages.ts'
import { readEntitySchema } from './entity-schema.ts'
import type { ProcessResult } from './process-result.ts'

/** Where a bridge sends, and what the runtime's `GetConfig` says of the processor. */
export interface BridgeOptions extends ProcessorOptions {
  /** Which channel each export goes to. */
  readonly exportConfigs?: readonly { readonly name: string; readonly channel: string }[]
  /** The types of the fields of entities; without it they are told by their values. */
  readonly dbSchema?: { readonly gqlSchema?: string } | undefined
}

/** The entities of a block that a processor works on. */
export interface RunningBlock {
  /** Does what the processor asks of its entities, from the service and what the processor changed before. */
  answer(request: EntityRequest): Promise<EntityAnswer>
}

/** Ingests what processors written with the existing SDK, versions 2.x and 3.x, answer with. */
export interface Bridge extends Pick<Processor, 'flush' | 'drain' | 'rollback'> {
  /**
   * Takes all results of one block, in the order of its logs; call it once a block. `time` of the block is that of its records. `requests` are the
   * changes of entities that the processor asked for while it ran.
   */
  block(block: Block, results: readonly ProcessResult[], requests?: readonly EntityRequest[]): Promise<void>
  /** The same for a processor that runs now: `process` gives it the block, answers its requests, and returns its results. */
  run(block: Block, process: (running: RunningBlock) => Promise<readonly ProcessResult[]>): Promise<void>
}

/** A bridge into `project`. It needs nothing of the other SDK but the messages. */
export function createBridge(options: BridgeOptions): Bridge {
  const processor = createProcessor(options)
  const channelOf = new Map((options.exportConfigs ?? []).map(({ name, channel }) => [name, channel]))
  const schema = readEntitySchema(options.dbSchema?.gqlSchema ?? '')
  return {
    block: (block, results, requests = []) =>
      processor.block(block, async (context) => {
        for (const request of requests) await changeEntities(context, request, schema)
        for (const result of results) emitResult(context, result, channelOf)
      }),
    run: (block, process) =>
      processor.block(block, async (context) => {
        const results = await process({ answer: (request) => answerEntities(context, request, schema) })
        for (const result of results) emitResult(context, result, channelOf)
      }),
    flush: () => processor.flush(),
    drain: () => processor.drain(),
    rollback: (chain, blockNumber) => processor.rollback(chain, blockNumber),
  }
}
