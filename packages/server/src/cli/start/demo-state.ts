import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the demo must know again at the next start; beside it everything is with the service. */
export interface DemoState {
  /** Reads and writes the demo project; printed in the commands. */
  readonly apiKey: string
  /** Manages the demo project's channels; never printed. */
  readonly channelKey: string
  /** Signing secret of the channel whose receiver listens; null until it was created. */
  readonly secret: string | null
  /** A recording keeps the shift of its first replay, or a second one would disagree with it. */
  readonly recording: { readonly path: string; readonly shiftSeconds: number } | null
}

/** Keeps the state in the data directory, readable by its owner alone, as it holds keys. */
export function createDemoStateFile(dataDirectory: string) {
  const file = join(dataDirectory, 'demo.json')
  return {
    async read(): Promise<DemoState | null> {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
      return text === null ? null : (JSON.parse(text) as DemoState)
    },
    async write(state: DemoState): Promise<void> {
      const draft = `${file}.new`
      await writeFile(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
      await rename(draft, file)
    },
  }
}

export type DemoStateFile = ReturnType<typeof createDemoStateFile>
