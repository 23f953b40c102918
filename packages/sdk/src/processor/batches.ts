import { createHash, randomUUID } from 'node:crypto'

interface BatchesOptions {
  readonly maxRecords: number
  readonly maxBytes: number
  /** Resolves when the batch is accepted; rejects when it never will be. */
  send(batch: { readonly id: string; readonly text: string }): Promise<void>
}

/** Gathers lines into batches and sends them one at a time, in order. */
export interface Batches {
  /**
   * Takes the records of one block, which stay together, and a line about each of its metrics, which is sent ahead of them unless it was before.
   * Resolves when there is room for the next.
   */
  add(lines: readonly string[], metrics: ReadonlyMap<string, string>): Promise<void>
  flush(): Promise<void>
  /** After a rollback: equal content that follows is new, not a repetition. */
  startAnew(): void
}

/**
 * A batch id is a hash of the content, so a processor that crashed before it saw the answer and starts over at the
 * same block sends the same ids, and nothing is doubled. A rollback takes content back, which may then come again
 * and must count: from there on the ids carry a random salt. A processor that resumes behind a rollback which it cannot remember
 * therefore begins with a rollback to the block it resumes after.
 */
export function createBatches(options: BatchesOptions): Batches {
  let salt = ''
  let lines: string[] = []
  let bytes = 0
  let underway: Promise<void> = Promise.resolve()
  let failure: unknown = null
  const known = new Map<string, string>()
  let unsaid = ''

  async function send(): Promise<void> {
    await underway
    if (failure !== null) throw failure
    if (lines.length === 0) return
    const text = lines.join('\n') + '\n'
    const id = createHash('sha256').update(salt).update(text).digest('base64url')
    lines = []
    bytes = 0
    const ahead = unsaid
    unsaid = ''
    // Apart, as what a process says first would change the content, and the id, of a batch that another one sent before.
    const said = ahead === '' ? Promise.resolve() : options.send({ id: randomUUID(), text: ahead })
    underway = said
      .then(() => options.send({ id, text }))
      .catch((error: unknown) => {
        failure = error
      })
  }

  return {
    async add(added, metrics) {
      if (failure !== null) throw failure
      for (const [name, line] of metrics) {
        if (known.get(name) === line) continue
        known.set(name, line)
        unsaid += `${line}\n`
      }
      for (const line of added) {
        lines.push(line)
        bytes += line.length + 1
      }
      if (lines.length >= options.maxRecords || bytes >= options.maxBytes) await send()
    },
    async flush() {
      await send()
      await underway
      if (failure !== null) throw failure
    },
    startAnew() {
      salt = randomUUID()
    },
  }
}
