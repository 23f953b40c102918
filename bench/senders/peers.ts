import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

const ROOT = dirname(dirname(import.meta.dirname))
const PEERS = join(ROOT, 'bench', '.peers')

/** Installs packages from the registry into a directory of their own, once, and returns it. Nothing of ours depends on them. */
export function installPeers(name: string, packages: readonly string[]): string {
  const directory = join(PEERS, name)
  const stamp = join(directory, '.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === packages.join(' ')) return directory
  mkdirSync(directory, { recursive: true })
  process.stderr.write(`installing ${packages.join(' ')} …\n`)
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  runIn(directory, 'npm', ['install', ...flags, '--prefix', '.', ...packages])
  writeFileSync(stamp, packages.join(' '))
  return directory
}

/** Copies files of the repository to a place below the packages, so that they find these. */
export function copyBelow(directory: string, source: string, name: string): string {
  const target = join(directory, name)
  cpSync(join(ROOT, source), target, { recursive: true })
  return target
}

/** Runs a program to its end and returns what it printed; throws with all of it when it fails. */
export function runIn(
  cwd: string,
  command: string,
  parameters: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): string {
  const path = `${join(ROOT, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, PATH: path, ...settings },
  })
  if (status === 0) return stdout
  throw new Error(`${command} ${parameters.join(' ')} failed:\n${stdout}${stderr}${error?.message ?? ''}`)
}
