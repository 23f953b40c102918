/** Writes the pages of `docs/` that repeat what the code says: errors and settings. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { renderReferencePages } from './reference-pages.ts'

for (const [path, text] of await renderReferencePages()) {
  writeFileSync(join(dirname(import.meta.dirname), path), text)
  process.stdout.write(`${path}\n`)
}
