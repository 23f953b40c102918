// Runs before `npm start` and `npm test`, on whatever Node the machine has (>= 20): plain JavaScript, no dependencies.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const MINIMUM_NODE_MAJOR = 24
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const pinnedNode = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
const stampFile = join(modules, '.millrace-install')
const lockFile = join(tmpdir(), `millrace-install-${sha256(root).slice(0, 16)}.lock`)
const say = (line) => process.stderr.write(`${line}\n`)

function sha256(text) {
  return createHash('sha256').update(text).digest('hex')
}

function lockfileHash() {
  return sha256(readFileSync(join(root, 'package-lock.json')))
}

/** The stamp is exact; without one (somebody ran npm himself) npm's own record must be newer than the lock file. */
function isInstalled() {
  if (existsSync(stampFile)) return readFileSync(stampFile, 'utf8') === lockfileHash()
  const record = join(modules, '.package-lock.json')
  return existsSync(record) && statSync(record).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs
}

function nodeMajor(command) {
  const result = spawnSync(command, ['--version'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
    timeout: 20_000,
  })
  return Number(/^v(\d+)\./.exec(result.stdout ?? '')?.[1] ?? 0)
}

/** `npm start` puts node_modules/.bin first on the path, so the pinned Node wins over the machine's if it is there. */
function runtimeFault() {
  const major = existsSync(pinnedNode) ? nodeMajor(pinnedNode) : Number(process.versions.node.split('.')[0])
  if (major >= MINIMUM_NODE_MAJOR) return null
  return [
    `Millrace needs Node ${MINIMUM_NODE_MAJOR} or newer; it brings its own, but that one is not there.`,
    'The usual reason: npm may not run install scripts here (`npm config get ignore-scripts` says true).',
    'Either run them now and repeat:  npm rebuild --ignore-scripts=false',
    `or put Node ${MINIMUM_NODE_MAJOR} or newer on the PATH (https://nodejs.org) and repeat the command.`,
  ].join('\n')
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Waits while another process installs. True when this one is to do it. */
async function takeLock() {
  for (let announced = false; ; announced = true) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    let holder = 0
    try {
      holder = Number(readFileSync(lockFile, 'utf8'))
      // A file without a pid is one being written right now, unless it has been so for a while.
      if (
        (holder > 0 && !isAlive(holder)) ||
        (holder === 0 && Date.now() - statSync(lockFile).mtimeMs > 5000)
      ) {
        unlinkSync(lockFile)
        continue
      }
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
      continue
    }
    if (!announced) say(`Another process (${holder}) is installing the dependencies; waiting for it.`)
    await sleep(300)
    if (!existsSync(lockFile) && isInstalled()) return false
  }
}

function installedPackages() {
  if (!existsSync(modules)) return 0
  let count = 0
  for (const name of readdirSync(modules)) {
    if (name.startsWith('@')) count += readdirSync(join(modules, name)).length
    else if (!name.startsWith('.')) count += 1
  }
  return count
}

/** Top-level packages of the lock file that this platform gets. */
function expectedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(
    ([path, entry]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) &&
      (!entry.os || entry.os.includes(process.platform)) &&
      (!entry.cpu || entry.cpu.includes(process.arch)),
  ).length
}

function npm(args) {
  const script = process.env.npm_execpath
  const isScript = script !== undefined && /\.[cm]?js$/.test(script)
  return isScript
    ? spawn(process.execPath, [script, ...args], { cwd: root })
    : spawn('npm', args, { cwd: root, shell: process.platform === 'win32' })
}

/** Runs npm quietly with a line of progress; its whole output comes back, for the case that it fails. */
function runNpm(args, expected) {
  const child = npm([...args, '--no-audit', '--no-fund', '--loglevel=error'])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const startedAt = Date.now()
  const isTerminal = process.stderr.isTTY
  const report = () => {
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    let count = 0
    try {
      count = Math.min(installedPackages(), expected)
    } catch {
      // npm removes and renames folders while we count; the next tick counts again.
    }
    const line = `  ${seconds} s, ${count} of about ${expected} packages`
    if (isTerminal) process.stderr.write(`\r\u001B[K${line}`)
    else say(line)
  }
  const timer = setInterval(report, isTerminal ? 1000 : 10_000)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(timer)
      if (isTerminal) process.stderr.write('\r\u001B[K')
      resolve({ code, output })
    })
  })
}

async function install() {
  const expected = expectedPackages()
  say(
    `Installing about ${expected} packages into node_modules (1 GB on disk, usually one to three minutes) …`,
  )
  const startedAt = Date.now()
  let result = await runNpm(['ci'], expected)
  // A registry that does not carry every platform's optional binaries makes the lock file look incomplete to `npm ci`;
  // `npm install` takes the same locked versions and fills in the binaries of this platform.
  if (result.code !== 0 && result.output.includes('EUSAGE')) {
    result = await runNpm(['install', '--no-save'], expected)
  }
  if (result.code !== 0) {
    throw new Error(
      `${result.output.trim()}\n\nInstalling failed: npm ended with code ${result.code}, its output is above.`,
    )
  }
  say(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`)
}

async function main() {
  if (isInstalled()) {
    const fault = existsSync(stampFile) ? null : runtimeFault()
    if (fault === null) return
  }
  if (!(await takeLock())) return
  try {
    if (!isInstalled()) await install()
    const fault = runtimeFault()
    if (fault !== null) throw new Error(fault)
    writeFileSync(stampFile, lockfileHash())
  } finally {
    try {
      unlinkSync(lockFile)
    } catch {
      // Nothing to give back.
    }
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    try {
      if (Number(readFileSync(lockFile, 'utf8')) === process.pid) unlinkSync(lockFile)
    } catch {
      // There was no lock.
    }
    process.exit(130)
  })
}
main().catch((error) => {
  say(error.message)
  process.exitCode = 1
})
