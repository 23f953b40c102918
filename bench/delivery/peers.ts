import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Packages of peers are kept apart from the service's own, and out of version control. */
const DIRECTORY = join(import.meta.dirname, '..', '.peers')

/** What takes part besides this service, in the versions that the results name. */
const VERSIONS: Readonly<Record<string, string>> = {
  bullmq: '6.7.0',
  ioredis: '5.11.1',
  'graphile-worker': '0.18.0',
  'pg-boss': '12.34.0',
}

/** Installs what is missing, all of it at once, because npm takes away what it is not told of. */
export function installPeers(names: readonly string[]): void {
  if (names.every((name) => installedVersion(name) === VERSIONS[name])) return
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`)
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', DIRECTORY, ...packages],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (status !== 0) throw new Error(`npm could not install ${packages.join(' ')} into ${DIRECTORY}`)
}

function installedVersion(name: string): string | null {
  const file = join(DIRECTORY, 'node_modules', name, 'package.json')
  if (!existsSync(file)) return null
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}

/** Loads a peer's package. */
export async function importPeer<T>(name: string): Promise<T> {
  const require = createRequire(join(DIRECTORY, 'index.js'))
  return (await import(pathToFileURL(require.resolve(name)).href)) as T
}
