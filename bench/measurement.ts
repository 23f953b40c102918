import type { Api } from './api.ts'
import type { Disturbance } from './disturbance/disturbance.ts'
import type { Latency } from './latency.ts'
import type { BenchOptions } from './options.ts'

/** One line of the result: a rate, a latency, or both. */
export interface Figure {
  readonly name: string
  readonly perSecond?: number
  /** What is counted per second. */
  readonly unit?: string
  readonly latency?: Latency
  /** What kept the machine from its work meanwhile; figures of one measurement share it. */
  readonly disturbance?: Disturbance
}

/** What a measurement is given. */
export interface Bench {
  readonly options: BenchOptions
  readonly api: Api
  /** End of the data set, epoch milliseconds. */
  readonly endAt: number
  /** Shows how far the measurement is. */
  readonly progress: (text: string) => void
}

/** One file a measurement; `main.ts` lists them in the order in which they run. */
export type Measurement = (bench: Bench) => Promise<readonly Figure[]>
