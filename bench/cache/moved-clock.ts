/**
 * Preloaded into a service: SIGUSR2 puts its wall clock forward or back by the hours in the file that `BENCH_CLOCK_FILE` names, so that `now` can move a
 * step with every round. The clock of deadlines stays.
 */
import { readFileSync } from 'node:fs'
import process from 'node:process'

const file = process.env['BENCH_CLOCK_FILE'] ?? ''
const realNow = Date.now
let offsetMs = 0
Date.now = () => realNow() + offsetMs
process.on('SIGUSR2', () => {
  offsetMs = Number(readFileSync(file, 'utf8')) * 3_600_000
})
