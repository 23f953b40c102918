import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { summarise, type Latency } from '../latency.ts'

const PAGE_BYTES = 4096
const EVERY_MS = 100

/**
 * Writes a page and waits for the disk, ten times a second beside whatever is measured: a latency that contains a commit can be no better
 * than this. It is the same page each time, as databases write their logs into files that are as long as they need to be: a file that grows
 * would make the file system commit its own journal, and everything else wait for that. Returns a function that ends it and tells how long the disk took.
 */
export async function startDiskProbe(): Promise<() => Promise<Latency>> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-disk-'))
  const file = await open(join(directory, 'probe'), 'w')
  const stopping = new AbortController()
  const took: number[] = []

  async function probe(): Promise<void> {
    const page = Buffer.alloc(PAGE_BYTES, 1)
    await file.write(page, 0, PAGE_BYTES, 0)
    await file.sync()
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      await file.write(page, 0, PAGE_BYTES, 0)
      await file.datasync()
      took.push(performance.now() - startedAt)
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  const probing = probe()
  return async () => {
    stopping.abort()
    await probing
    await file.close()
    rmSync(directory, { recursive: true, force: true })
    return summarise(took)
  }
}
