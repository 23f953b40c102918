import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { EngineUser } from './engine-user.ts'

/** How the engine's process is started, and where it answers. */
export interface ProcessSetting {
  readonly execPath: string
  readonly execArgv: readonly string[]
  readonly uid?: number
  readonly gid?: number
  /** The socket in its directory; null where it answers on the loopback interface, which it then shares. */
  readonly socketPath: string | null
}

const UNSHARE = ['/usr/bin/unshare', '/bin/unshare']
const TRUE = ['/usr/bin/true', '/bin/true']
/** Longer addresses of sockets are cut off by the system. */
const SOCKET_PATH_MAX = 100

/**
 * A process without a network, where the system allows it: a network namespace of its own with no interface that is up (`unshare(1)`), made by root, or in a
 * user namespace by anybody. It answers on a socket in its directory, and whatever a statement might get past the checks finds nothing to connect to
 * (SQ-2). `socketPath` is null where that is impossible.
 */
export function isolateNetwork(directory: string, user: EngineUser | null): ProcessSetting {
  const shared = { execPath: process.execPath, execArgv: [], ...user, socketPath: null }
  const socketPath = join(directory, 'engine.sock')
  const unshare = UNSHARE.find((path) => existsSync(path))
  const nothing = TRUE.find((path) => existsSync(path))
  if (process.platform !== 'linux' || !unshare || !nothing) return shared
  if (Buffer.byteLength(socketPath) > SOCKET_PATH_MAX) return shared
  const flags = [...namespaces(user), '--']
  const probe = spawnSync(unshare, [...flags, nothing], { stdio: 'ignore', env: {} })
  if (probe.status !== 0) return shared
  return { execPath: unshare, execArgv: [...flags, process.execPath], socketPath }
}

function namespaces(user: EngineUser | null): readonly string[] {
  if (process.getuid?.() !== 0) return ['--user', '--map-root-user', '--net']
  return user ? ['--net', `--setuid=${user.uid}`, `--setgid=${user.gid}`] : ['--net']
}
