import type { ChainBlock, Step } from '../../src/demo/chain-block.ts'

/** The steps of a source up to and with the first that `isLast` accepts. */
export async function takeUntil(
  source: AsyncIterable<Step>,
  isLast: (step: Step) => boolean,
): Promise<readonly Step[]> {
  const steps: Step[] = []
  for await (const step of source) {
    steps.push(step)
    if (isLast(step)) break
  }
  return steps
}

/** What a service that follows the steps ends up with. */
export function applySteps(steps: readonly Step[]): readonly ChainBlock[] {
  let chain: ChainBlock[] = []
  for (const step of steps) {
    if (step.kind === 'block') chain.push(step.block)
    if (step.kind === 'rollback') chain = chain.filter(({ number }) => number <= step.blockNumber)
  }
  return chain
}
