/**
 * Packs a package as it is published, into an archive that `npm install` takes: npm run pack -- sdk [directory].
 * Inside the repository a package exports its sources; what is packed exports what is built of them.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'

const ROOT = dirname(import.meta.dirname)
const PACKAGES = ['sdk'] as const

interface Manifest {
  readonly scripts?: unknown
  readonly devDependencies?: unknown
  readonly publishConfig?: { readonly exports?: unknown }
  readonly files?: readonly string[]
}

const [name, directory = '.'] = process.argv.slice(2)
if (!PACKAGES.some((each) => each === name)) {
  process.stderr.write(`npm run pack -- <package> [directory]; packages: ${PACKAGES.join(', ')}\n`)
  process.exit(2)
}
pack(join(ROOT, 'packages', name ?? ''), resolve(directory))

/** Builds and packs in a directory of its own, so that what works with the sources meanwhile is not disturbed. */
function pack(source: string, destination: string): void {
  const staging = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    mkdirSync(destination, { recursive: true })
    run('tsc', ['-p', join(source, 'tsconfig.build.json'), '--outDir', join(staging, 'dist')], ROOT)
    const { scripts, devDependencies, publishConfig, ...manifest } = JSON.parse(
      readFileSync(join(source, 'package.json'), 'utf8'),
    ) as Manifest
    writeFileSync(join(staging, 'package.json'), JSON.stringify({ ...manifest, ...publishConfig }, null, 2))
    cpSync(join(source, 'README.md'), join(staging, 'README.md'))
    cpSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'))
    process.stdout.write(run('npm', ['pack', '--silent', '--pack-destination', destination], staging))
  } finally {
    rmSync(staging, { recursive: true })
  }
}

function run(command: string, parameters: readonly string[], cwd: string): string {
  const path = `${join(ROOT, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
  })
  if (status === 0) return stdout
  process.stderr.write(`${stdout}${stderr}${error?.message ?? ''}`)
  process.exit(1)
}
