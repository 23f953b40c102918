import { setFlagsFromString } from 'node:v8'
import { runCli } from './cli/run-cli.ts'

// Answers are bytes outside of the heap, and the collector counts them as growth of a heap that is small: it would run over all of it every few
// large answers. Letting the heap double between two runs took about a fifth off the processor time of `bench:sql --only large,pages`.
setFlagsFromString('--heap-growing-percent=100')

process.exitCode = await runCli(process.argv.slice(2))
