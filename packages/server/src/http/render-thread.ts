import { parentPort } from 'node:worker_threads'
import type { RenderReport } from './range-renderer.ts'
import { renderRangeAnswer, type RangeRendering } from './render-range-answer.ts'

/** The thread of `createRangeRenderer`: writes the answers that it is given, in order. */
async function renderAfter(previous: Promise<void>, rendering: RangeRendering): Promise<void> {
  await previous
  const report = await render(rendering)
  parentPort?.postMessage(report, 'bytes' in report ? [report.bytes.buffer] : [])
}

async function render(rendering: RangeRendering): Promise<RenderReport> {
  try {
    return { bytes: await renderRangeAnswer(rendering) }
  } catch (error) {
    return { error: String(error) }
  }
}

let last = Promise.resolve()
parentPort?.on('message', (rendering: RangeRendering) => {
  last = renderAfter(last, rendering)
})
