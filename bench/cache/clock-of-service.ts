import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Moves the wall clock of a service that was started with its `environment`. */
export interface ClockOfService {
  readonly environment: Readonly<Record<string, string>>
  /** From the machine's clock; resolves when it is so. */
  moveTo(pid: number, offsetHours: number): Promise<void>
}

const SETTLED_AFTER_MS = 30

/** The file through which it is told lies in `directory`. */
export function createClockOfService(directory: string): ClockOfService {
  const file = join(directory, 'clock')
  const preload = new URL('moved-clock.ts', import.meta.url).href
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, BENCH_CLOCK_FILE: file },
    moveTo: async (pid, offsetHours) => {
      writeFileSync(file, String(offsetHours))
      process.kill(pid, 'SIGUSR2')
      await sleep(SETTLED_AFTER_MS)
    },
  }
}
