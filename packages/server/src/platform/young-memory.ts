import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Well below the 64 MiB at which the collector runs over the whole heap: what lives through two runs is no longer young. */
const BYTES_BETWEEN_RUNS = 12 * 2 ** 20

/** Its only way to be asked for the young part alone. */
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
setFlagsFromString('--no-expose-gc')

let bytesSinceRun = 0

/**
 * Tells of memory outside of the heap that is used for a moment only. The collector counts it, yet looks for it with nothing less than a run over the
 * whole heap when 64 MiB have gathered: that took a third of the processor time of SQL answers from 1000 rows on. What is young is found by
 * a run over the young part, which takes a millisecond or two.
 */
export function noteShortLived(byteLength: number): void {
  bytesSinceRun += byteLength
  if (bytesSinceRun < BYTES_BETWEEN_RUNS) return
  bytesSinceRun = 0
  collect({ type: 'minor' })
}
