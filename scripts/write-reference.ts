/** Writes what repeats the code: the pages of `docs/` on errors and settings, and the types of the wire in the SDK. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { renderReferencePages } from './reference-pages.ts'
import { renderWireTypes, WIRE_TYPES_PATH } from './wire-types.ts'

const files = [...(await renderReferencePages()), [WIRE_TYPES_PATH, await renderWireTypes()] as const]
for (const [path, text] of files) {
  writeFileSync(join(dirname(import.meta.dirname), path), text)
  process.stdout.write(`${path}\n`)
}
