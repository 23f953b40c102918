/**
 * `npm test`: the order of the house first, quickest refusal wins, then every test. Arguments go to the test runner,
 * e.g. `npm test -- packages/server/src/metrics`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { CHROMIUM } from '../packages/server/test/console/find-chromium.ts'
import { countTests, type TestReport } from './count-tests.ts'
import { runChecks, type Check } from './run-checks.ts'

const root = dirname(import.meta.dirname)
process.chdir(root)
const binaries = join(root, 'node_modules', '.bin')

const CHECKS: readonly Check[] = [
  { name: 'types (tsc)', command: join(binaries, 'tsc'), arguments: ['-p', 'tsconfig.json'] },
  {
    name: 'types of the console (tsc)',
    command: join(binaries, 'tsc'),
    arguments: ['-p', join('packages', 'console')],
  },
  {
    name: 'format (prettier)',
    command: join(binaries, 'prettier'),
    arguments: ['--check', '--cache', '--log-level', 'warn', '.'],
  },
  {
    name: 'lint (oxlint)',
    command: join(binaries, 'oxlint'),
    arguments: ['--type-aware', '--deny-warnings'],
  },
  { name: 'dead code (knip)', command: join(binaries, 'knip'), arguments: ['--no-progress'] },
  {
    name: 'rulings and tests',
    command: process.execPath,
    arguments: [join('scripts', 'check-rulings.ts')],
  },
]

const startedAt = performance.now()
const elapsed = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const failure = await runChecks(CHECKS, 2, say)
if (failure) {
  say(`\n${failure.output.trimEnd()}\n`)
  say(`npm test stopped at ${failure.name} after ${elapsed()}; the tests were not run.`)
  process.exit(1)
}

if (CHROMIUM === null) {
  say('Without a Chromium the browser tests of the console are left out: apt-get install chromium.')
}
const directory = mkdtempSync(join(tmpdir(), 'millrace-tests-'))
const reportFile = join(directory, 'report.json')
const runner = spawnSync(
  join(binaries, 'vitest'),
  [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...process.argv.slice(2),
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
const report = existsSync(reportFile)
  ? (JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport)
  : undefined
rmSync(directory, { recursive: true, force: true })
if (report) say(countTests(report))
else say(`The test runner ended without a report (${runner.signal ?? `exit code ${runner.status}`}).`)
process.exitCode = runner.status ?? 1
