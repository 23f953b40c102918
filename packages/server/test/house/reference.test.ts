import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderReferencePages } from '../../../../scripts/reference-pages.ts'
import { renderWireTypes } from '../../../../scripts/wire-types.ts'
import { ROOT } from './sources.ts'

const pages = await renderReferencePages()

it('documents exactly the errors that the contract has (ER-1)', () => {
  expect(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')).toBe(pages.get('docs/errors.md'))
})

it('documents exactly the settings that the service reads', () => {
  expect(readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')).toBe(pages.get('docs/configuration.md'))
})

it('gives the SDK exactly the types that the contract has', async () => {
  for (const [path, text] of await renderWireTypes()) {
    expect(readFileSync(join(ROOT, path), 'utf8'), 'npm run reference').toBe(text)
  }
})
