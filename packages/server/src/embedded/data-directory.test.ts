import { existsSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { claimDataDirectory, processStartedAt } from './data-directory.ts'

let path: string

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'millrace-claim-'))
})

afterEach(async () => {
  vi.useRealTimers()
  await rm(path, { recursive: true, force: true })
})

const lockOf = (holder: object): Promise<void> =>
  writeFile(join(path, 'millrace.lock'), JSON.stringify(holder))

/** Makes the lock look as if its holder had shown itself last so many seconds ago. */
async function age(seconds: number) {
  const lock = join(path, 'millrace.lock')
  const then = Date.now() / 1000 - seconds
  await utimes(lock, then, then)
  return stat(lock)
}

async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

it('refuses a second start and names the holder', async () => {
  const claim = await claimDataDirectory(path)
  await expect(claimDataDirectory(path)).rejects.toThrow(`in use by process ${process.pid}`)
  await claim.release()
  await (await claimDataDirectory(path)).release()
  expect(await readdir(path)).toEqual([])
})

it('takes over the lock of a process that has ended', async () => {
  await lockOf({ pid: await endedProcess(), startedAt: '1', host: hostname() })
  await (await claimDataDirectory(path)).release()
})

it('takes over a lock whose process number belongs to a later process', async () => {
  await lockOf({ pid: process.pid, startedAt: 'earlier', host: hostname() })
  await (await claimDataDirectory(path)).release()
})

it('takes over a lock that was torn by a power failure', async () => {
  await writeFile(join(path, 'millrace.lock'), '')
  await (await claimDataDirectory(path)).release()
})

it('believes a lock of another machine, or container, as long as that shows signs of being there', async () => {
  await lockOf({ pid: await endedProcess(), startedAt: '1', host: 'elsewhere.example' })
  await age(30)
  await expect(claimDataDirectory(path)).rejects.toThrow(/on elsewhere\.example.*start again in a minute/)
  await age(90)
  await (await claimDataDirectory(path)).release()
})

it('shows signs of being there as long as it holds the directory', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const claim = await claimDataDirectory(path)
  const { mtimeMs } = await age(3600)
  vi.advanceTimersByTime(10_000)
  await vi.waitFor(async () =>
    expect((await stat(join(path, 'millrace.lock'))).mtimeMs).toBeGreaterThan(mtimeMs + 3_500_000),
  )
  await claim.release()
  expect(vi.getTimerCount()).toBe(0)
  expect(await readdir(path)).toEqual([])
})

it.each([
  ['taken over', () => lockOf({ pid: 1, startedAt: '1', host: 'elsewhere.example' })],
  ['removed', () => rm(join(path, 'millrace.lock'))],
])('tells a holder whose lock was %s, once, and leaves it as it is', async (_, change) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let losses = 0
  const claim = await claimDataDirectory(path, { onLost: () => (losses += 1) })
  vi.advanceTimersByTime(10_000)
  await change()
  const then = await readdir(path)
  vi.advanceTimersByTime(10_000)
  await vi.waitFor(() => expect(losses).toBe(1))
  expect(vi.getTimerCount()).toBe(0)
  await claim.release()
  expect(await readdir(path)).toEqual(then)
})

it('says what to do about the lock of a copy', async () => {
  const claim = await claimDataDirectory(path)
  await expect(claimDataDirectory(path)).rejects.toThrow(/if this is a copy.*remove its millrace\.lock/)
  await claim.release()
})

it('gives a stale lock to exactly one of many that start together', async () => {
  await lockOf({ pid: await endedProcess(), startedAt: '1', host: hostname() })
  const claims = await Promise.allSettled(Array.from({ length: 20 }, () => claimDataDirectory(path)))
  expect(claims.filter((claim) => claim.status === 'fulfilled')).toHaveLength(1)
})

it('refuses a disk without room and says how much is needed', async () => {
  await expect(claimDataDirectory(path, { minimumFreeBytes: 2 ** 60 })).rejects.toThrow(
    /has \d+ MiB free; at least 1099511627776 MiB are needed/,
  )
})

it('makes the directories above it', async () => {
  const claim = await claimDataDirectory(join(path, 'a', 'b', 'c'))
  await claim.release()
})

// A file system that says ENOENT for a name whose parent exists; only Linux has one at hand.
it.runIf(existsSync('/proc/self'))('refuses a directory that cannot be made, at once', async () => {
  await expect(claimDataDirectory('/proc/millrace/data')).rejects.toThrow(/cannot be written \(ENOENT\)/)
})

it('refuses a directory that cannot be written', async () => {
  const file = join(path, 'file')
  await writeFile(file, '')
  await expect(claimDataDirectory(join(file, 'below'))).rejects.toThrow(/cannot be written \(ENOTDIR\)/)
})

it('knows a process by its start', async () => {
  expect(processStartedAt(process.pid)).toMatch(/./)
  expect(processStartedAt(await endedProcess())).toBeNull()
})
