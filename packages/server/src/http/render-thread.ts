import { parentPort } from 'node:worker_threads'
import { takeOverAnswerMemory } from './answer-memory.ts'
import type { RenderOrder, RenderReport } from './range-renderer.ts'
import { memoryOfRows, renderRangeAnswer, type RangeRendering } from './render-range-answer.ts'

/** The thread of `createRangeRenderer`: writes the answers that it is given, in order. */
async function renderAfter(previous: Promise<void>, { rendering, memory }: RenderOrder): Promise<void> {
  if (memory) takeOverAnswerMemory(memory, false)
  await previous
  const report = await render(rendering)
  parentPort?.postMessage(report, 'bytes' in report ? [report.bytes.buffer, ...report.memory] : [])
}

async function render(rendering: RangeRendering): Promise<RenderReport> {
  try {
    return { bytes: await renderRangeAnswer(rendering), memory: memoryOfRows(rendering) }
  } catch (error) {
    return { error: String(error) }
  }
}

let last = Promise.resolve()
parentPort?.on('message', (order: RenderOrder) => {
  last = renderAfter(last, order)
})
