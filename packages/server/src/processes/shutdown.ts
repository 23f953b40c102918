import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'

/** One step of an orderly stop. A step that fails or exceeds its time is logged and the next one runs all the same. */
export interface Phase {
  readonly name: string
  readonly timeoutMs: number
  run(): Promise<void>
}

/** Runs the phases one after another. Never throws. */
export async function shutDown(phases: readonly Phase[], clock: Clock, log: Logger): Promise<void> {
  for (const phase of phases) {
    const startedAt = clock.monotonic()
    const problem = await within(phase.timeoutMs, phase.run())
    const durationMs = Math.round(clock.monotonic() - startedAt)
    if (problem === null) log.info({ phase: phase.name, durationMs }, 'shutdown.phase_done')
    else log.error({ phase: phase.name, durationMs, err: problem }, 'shutdown.phase_failed')
  }
}

async function within(timeoutMs: number, work: Promise<void>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`not done within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work.then(() => null), timeout])
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
  }
}
