import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool, SpoolEntry } from './spool.ts'

/** Bounds of a spool on disk. */
export interface FileSpoolOptions {
  /** Beyond it the processor waits for the service, as without a spool; default 1 GiB. */
  readonly maxBytes?: number
}

const NAME = /^(\d{12})\.entry$/

/**
 * A spool of one file an entry in `directory`, which belongs to one processor of one process. What is in it outlives the process.
 */
export function fileSpool(directory: string, options: FileSpoolOptions = {}): Spool {
  const { maxBytes = 1024 ** 3 } = options
  let loaded: Promise<void> | null = null
  let numbers: number[] = []
  let nextNumber = 1
  let bytes = 0
  const sizes = new Map<number, number>()
  let oldest: { readonly number: number; readonly entry: SpoolEntry } | null = null

  const pathOf = (number: number) => join(directory, `${String(number).padStart(12, '0')}.entry`)

  async function load(): Promise<void> {
    await mkdir(directory, { recursive: true })
    const found = (await readdir(directory)).flatMap((name) => {
      const digits = NAME.exec(name)?.[1]
      return digits === undefined ? [] : [Number(digits)]
    })
    numbers = found.toSorted((a, b) => a - b)
    nextNumber = (numbers.at(-1) ?? 0) + 1
    for (const number of numbers) {
      const { size } = await stat(pathOf(number))
      sizes.set(number, size)
      bytes += size
    }
  }

  return {
    async first() {
      await (loaded ??= load())
      const [number] = numbers
      if (number === undefined) return null
      if (oldest?.number !== number) oldest = { number, entry: parse(await readFile(pathOf(number), 'utf8')) }
      return oldest.entry
    },
    async removeFirst() {
      const [number] = numbers
      if (number === undefined) return
      // Gone from disk before what follows may be sent beside it: a rollback that came back would remove that.
      await rm(pathOf(number))
      await syncDirectory(directory)
      numbers.shift()
      bytes -= sizes.get(number) ?? 0
      sizes.delete(number)
      oldest = null
    },
    async add(entry) {
      await (loaded ??= load())
      const content = Buffer.from(print(entry))
      if (numbers.length > 0 && bytes + content.length > maxBytes) return false
      const number = nextNumber++
      const path = pathOf(number)
      // Written, forced to disk and then renamed: an entry is there whole or not at all.
      const file = await open(`${path}.new`, 'w')
      try {
        await file.writeFile(content)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${path}.new`, path)
      await syncDirectory(directory)
      numbers.push(number)
      sizes.set(number, content.length)
      bytes += content.length
      return true
    },
  }
}

async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The first line tells what it is; the lines of a batch follow as they are. */
function print(entry: SpoolEntry): string {
  if (entry.kind === 'rollback') return `${JSON.stringify(entry)}\n`
  return `${JSON.stringify({ kind: entry.kind, id: entry.id })}\n${entry.text}`
}

function parse(content: string): SpoolEntry {
  const end = content.indexOf('\n')
  const head = JSON.parse(content.slice(0, end)) as SpoolEntry
  return head.kind === 'rollback' ? head : { ...head, text: content.slice(end + 1) }
}
