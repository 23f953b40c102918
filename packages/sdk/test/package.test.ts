import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** An empty folder of somebody who installs the packed SDK. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-sdk-'))
  const archive = run(process.execPath, [join(ROOT, 'scripts/pack.ts'), 'sdk', folder]).trim()
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}')
  // Nothing may be asked of a registry: the package has no dependencies.
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, archive)])
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

function run(command: string, parameters: readonly string[]): string {
  return execFileSync(command, parameters, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
}
const write = (name: string, content: string) => writeFileSync(join(folder, name), content)

/** The code blocks of the package's page that are programs. */
const programs = [
  ...readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs),
].map(([, code = '']) => code)

describe('the packed SDK', () => {
  it('installs alone and is imported by plain JavaScript', () => {
    write(
      'use.mjs',
      `import * as sdk from '@millrace/sdk'
       const counter = sdk.Counter.register('n')
       console.log(counter.name, Object.keys(sdk).length > 10, typeof sdk.createBridge)`,
    )
    expect(run(process.execPath, ['use.mjs'])).toBe('n true function\n')
    const manifest = JSON.parse(
      readFileSync(join(folder, 'node_modules/@millrace/sdk/package.json'), 'utf8'),
    ) as object
    expect(manifest).not.toHaveProperty('dependencies')
    expect(manifest).not.toHaveProperty('scripts')
  })

  it('brings types that hold without leniency, and the programs of its page keep to them', () => {
    for (const [index, code] of programs.entries()) {
      const names = /^import \{ (.*) \} from '@millrace\/sdk'$/m.exec(code)?.[1] ?? ''
      expect(names, `program ${index} imports what it uses`).not.toBe('')
      // What a reader brings along.
      write(
        `program-${index}.ts`,
        `declare const apiKey: string, baseUrl: string, number: number, time: Date, rawBody: string
         declare const request: { headers: Record<string, string> }
         declare const console: { log(...values: unknown[]): void }
         ${code}\nexport {}`,
      )
    }
    expect(programs.length).toBeGreaterThan(3)
    write(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          module: 'nodenext',
          target: 'es2023',
          lib: ['es2023', 'dom', 'dom.iterable'],
          types: [],
          skipLibCheck: false,
        },
        include: ['*.ts'],
      }),
    )
    expect(run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('')
  }, 60_000)
})
