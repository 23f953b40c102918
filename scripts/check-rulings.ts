/** Ties the rulings of `docs/rulings.md` to the tests, both ways. Ends with 1 and one line a fault where they differ. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { readPending, readRulings, rulingFaults } from './rulings.ts'

const root = dirname(import.meta.dirname)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const rulings = readRulings(read('docs/rulings.md'))
const pending = readPending(read('docs/rulings-pending.md'))
const files = globSync(
  ['packages/*/{src,test,bin}/**/*.ts', '{bench,examples}/**/*.ts', 'docs/**/*.md', '*.md'],
  {
    cwd: root,
    exclude: ['**/node_modules/**'],
  },
)
  .toSorted()
  .map((path) => ({
    path,
    text: read(path),
    isTest: /^packages\/[^/]+\/test\//.test(path) || /\.(test|conformance)\.ts$/.test(path),
  }))

const faults = rulingFaults(rulings, pending, files)
for (const fault of faults) process.stderr.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
else {
  const { notBuilt, inPart } = pending
  process.stdout.write(
    `${rulings.length} rulings: ${rulings.length - notBuilt.length} tested (${inPart.length} built in part), ` +
      `${notBuilt.length} not built yet.\n`,
  )
}
