import { createClient, createProcessor } from '@millrace/sdk'
import type { KnownBlocks, Step } from './chain-block.ts'
import type { DemoCommand, DemoInput, DemoReport } from './demo-messages.ts'
import { handleBlock } from './handle-block.ts'
import { TOKENS } from './known-contracts.ts'
import { readKnownBlocks } from './known-blocks.ts'
import { recordedBlocks } from './recorded-blocks.ts'
import { readToken, rpcBlocks } from './rpc-blocks.ts'
import { simulatedBlocks } from './simulated-blocks.ts'
import { waitFor } from './wait-for.ts'

type Start = Extract<DemoCommand, { kind: 'start' }>

/** Sends an input's blocks to the service, from the first that it does not have, until the input ends or `signal` is aborted. */
export async function runProcessor(
  start: Start,
  report: (report: DemoReport) => void,
  signal: AbortSignal,
): Promise<void> {
  const { baseUrl, apiKey, project, input } = start
  const say = (text: string) => report({ kind: 'line', source: 'processor', text })
  const known = await readKnownBlocks(createClient({ baseUrl, apiKey }), project)
  const tokens = input.kind === 'rpc' ? await readToken(input.url, input.contract) : TOKENS
  const processor = createProcessor({
    baseUrl,
    apiKey,
    project,
    signal,
    onWarning: say,
    retry: {
      onRetry: (error, attempt) => {
        if (attempt === 2) say(`the service is away (${error.message}); trying on`)
      },
    },
  })
  // Batches that a former run sent and that were rolled back since must not be taken for repetitions.
  for (const [chain, [last]] of known) {
    if (last !== undefined) await processor.rollback(chain, last.number)
  }

  let isCurrent = false
  let blocks = 0
  let records = 0
  for await (const step of stepsOf(input, known, say, signal)) {
    if (signal.aborted) break
    switch (step.kind) {
      case 'block':
        await processor.block(
          {
            chain: step.block.chain,
            number: step.block.number,
            time: new Date(step.block.timeSeconds * 1000),
            ...(step.block.hash === null ? {} : { hash: step.block.hash }),
          },
          (context) => handleBlock(context, step.block, tokens),
        )
        blocks += 1
        records += step.block.events.length
        if (isCurrent) await processor.flush()
        break
      case 'rollback': {
        const withdrawnExports =
          (await processor.rollback(step.chain, step.blockNumber))?.withdrawnExports ?? 0
        const withdrawn = withdrawnExports > 0 ? `, ${withdrawnExports} pending messages withdrawn` : ''
        say(`reorganisation: rolled back to block ${step.blockNumber}${withdrawn}`)
        break
      }
      case 'progress':
        if (!isCurrent) report({ kind: 'progress', done: step.done, total: step.total, records })
        break
      case 'current':
        await processor.flush()
        isCurrent = true
        report({ kind: 'current', blocks })
        break
    }
  }
  await processor.flush()
}

function stepsOf(
  input: DemoInput,
  known: KnownBlocks,
  say: (text: string) => void,
  signal: AbortSignal,
): AsyncIterable<Step> {
  const wait = (timeMs: number) => waitFor(timeMs, signal)
  switch (input.kind) {
    case 'simulation':
      return simulatedBlocks({
        seed: input.seed,
        known,
        now: () => Date.now(),
        waitUntil: (timeMs) => wait(timeMs - Date.now()),
      })
    case 'logs':
      return recordedBlocks({ ...input, known })
    case 'rpc':
      return rpcBlocks({
        ...input,
        known,
        wait,
        pollMs: 4000,
        onTrouble: (message) => say(`node: ${message}`),
      })
  }
}
