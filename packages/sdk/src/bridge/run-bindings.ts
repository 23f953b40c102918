import type { EntityAnswer, EntityRequest } from './entity-messages.ts'
import type { ProcessResult, TimeseriesMessage } from './process-result.ts'

/** What is sent to a running processor: something to process, or the answer to what it asked. */
export interface StreamRequest<Binding> {
  readonly processId: number
  readonly binding?: Binding
  readonly start?: boolean
  readonly dbResult?: EntityAnswer
}

/** What a running processor sends: a request for entities, a part of its time series, or its result. */
export interface StreamMessage {
  readonly processId?: number
  readonly dbRequest?: EntityRequest | undefined
  readonly tsRequest?: { readonly data?: readonly TimeseriesMessage[] } | undefined
  readonly partitions?: unknown
  readonly result?: ProcessResult | undefined
}

/** The method `processBindingsStream` of the runtime of a processor, in this process or behind gRPC. */
export type ProcessBindings<Binding> = (
  requests: AsyncIterable<StreamRequest<Binding>>,
) => AsyncIterable<StreamMessage>

/**
 * Has a running processor process `bindings`, one after the other, and answers what it asks of its entities meanwhile. Returns the results in the
 * order of the bindings. Throws what a handler threw.
 */
export async function runBindings<Binding>(
  processBindings: ProcessBindings<Binding>,
  bindings: readonly Binding[],
  answer: (request: EntityRequest) => Promise<EntityAnswer>,
): Promise<readonly ProcessResult[]> {
  if (bindings.length === 0) return []
  const results: ProcessResult[] = []
  const requests = createQueue<StreamRequest<Binding>>()
  const begin = () => {
    const binding = bindings[results.length]
    if (binding !== undefined) requests.push({ processId: results.length + 1, binding })
  }
  let series: TimeseriesMessage[] = []
  begin()
  for await (const message of processBindings(requests)) {
    const processId = results.length + 1
    if (message.dbRequest) {
      requests.push({ processId, dbResult: await answered(answer, message.dbRequest) })
    }
    if (message.partitions !== undefined) requests.push({ processId, start: true })
    series.push(...(message.tsRequest?.data ?? []))
    if (!message.result) continue
    const reason = message.result.states?.error
    if (reason) throw new Error(`the processor failed: ${reason}`)
    const { timeseriesResult = [] } = message.result
    results.push({ ...message.result, timeseriesResult: [...series, ...timeseriesResult] })
    series = []
    if (results.length === bindings.length) break
    begin()
  }
  requests.end()
  if (results.length === bindings.length) return results
  throw new Error(`the processor ended after ${results.length} of ${bindings.length} bindings`)
}

/** What goes wrong is told to the processor, whose handler then throws it. */
async function answered(
  answer: (request: EntityRequest) => Promise<EntityAnswer>,
  request: EntityRequest,
): Promise<EntityAnswer> {
  try {
    return await answer(request)
  } catch (error) {
    return { opId: request.opId ?? 0n, error: (error as Error).message }
  }
}

function createQueue<Item>() {
  const waiting: Item[] = []
  let isEnded = false
  let wake: (() => void) | null = null
  return {
    push(item: Item): void {
      waiting.push(item)
      wake?.()
    },
    end(): void {
      isEnded = true
      wake?.()
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
      for (;;) {
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) yield item
        if (isEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
