import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../packages/server/test/support/free-port.ts'

const START_TIMEOUT_MS = 120_000

/** A running time series database of the field that answers the Prometheus API. */
export interface Peer {
  readonly name: PeerName
  readonly url: string
  stop(): Promise<void>
}

export type PeerName = 'VictoriaMetrics' | 'Prometheus'

const PACKAGES = { VictoriaMetrics: 'victoria-metrics', Prometheus: 'prometheus' } as const

/** Installs the peer's Debian package where it is missing, which takes root; throws an Error that says what to install otherwise. */
export function ensureInstalled(name: PeerName): void {
  const package_ = PACKAGES[name]
  if (spawnSync('which', [package_]).status === 0) return
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) {
    throw new Error(`${name} is not installed: apt-get install ${package_}`)
  }
  execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', package_], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

/** Starts a peer on its data in `directory`, without its cache of results unless that is wanted, and waits until it answers. */
export async function startPeer(
  name: PeerName,
  directory: string,
  { keepsResults = false }: { readonly keepsResults?: boolean } = {},
): Promise<Peer> {
  ensureInstalled(name)
  mkdirSync(directory, { recursive: true })
  const address = `127.0.0.1:${await freePort()}`
  const log = createWriteStream(join(directory, '..', `${PACKAGES[name]}.log`))
  await once(log, 'open')
  const child = spawn(PACKAGES[name], argumentsOf(name, directory, address, keepsResults), {
    stdio: ['ignore', log, log],
  })
  const closed = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await closed
  }
  const url = `http://${address}`
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${name} did not start; see ${log.path.toString()}`)
    }
    await sleep(100)
  }
  return { name, url, stop }
}

function argumentsOf(
  name: PeerName,
  directory: string,
  address: string,
  keepsResults: boolean,
): readonly string[] {
  if (name === 'VictoriaMetrics') {
    return [
      `-storageDataPath=${directory}`,
      `-httpListenAddr=${address}`,
      '-retentionPeriod=100y',
      ...(keepsResults ? [] : ['-search.disableCache']),
    ]
  }
  const configuration = join(directory, '..', 'prometheus.yml')
  writeFileSync(configuration, 'global: {}\n')
  return [
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${directory}`,
    `--web.listen-address=${address}`,
    '--storage.tsdb.retention.time=100y',
    '--query.max-samples=1000000000',
  ]
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/query?query=1`)).ok
  } catch {
    return false
  }
}
