import { setFlagsFromString } from 'node:v8'
import { runCli } from './cli/run-cli.ts'

// Answers are bytes outside of the heap, and the collector counts them as growth of a heap that is small: it would run over all of it every few
// large answers. Letting the heap double between two runs took about a fifth off the processor time of `bench:sql --only large,pages`.
setFlagsFromString('--heap-growing-percent=100')
// And counts them together with the heap, instead of running over all of it for every 64 MiB of them: with the bytes of a first page left to that, a sixth
// less processor time for 100 000 rows of SQL, and up to 90 MB more memory at most. A larger new space (--max-semi-space-size) changes nothing.
setFlagsFromString('--external-memory-accounted-in-global-limit')

process.exitCode = await runCli(process.argv.slice(2))
