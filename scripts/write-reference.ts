/** Writes what repeats the code: the pages of `docs/` on errors and settings, and the types of the wire in the SDK. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { renderReferencePages } from './reference-pages.ts'
import { renderWireTypes } from './wire-types.ts'

const files = [...(await renderReferencePages()), ...(await renderWireTypes())]
for (const [path, text] of files) {
  writeFileSync(join(dirname(import.meta.dirname), path), text)
  process.stdout.write(`${path}\n`)
}
