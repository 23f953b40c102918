import { createHash } from 'node:crypto'
import { splitRows } from './split-rows.ts'

/** What stands for a value without its text. */
export interface Content {
  /** Weak (RFC 9110, 8.8.1): the statistics of an answer may differ where its content is the same. */
  readonly etag: string
  /** About what the value takes in memory with all that is known of it, and as JSON; rather more than less. */
  readonly bytes: number
}

const NUMBER_BYTES = 16

/**
 * The content of a value of JSON and rows of numbers, whose every bit counts; null for one that is nothing in JSON. Throws for what JSON
 * refuses.
 */
export function contentOf(value: unknown): Content | null {
  const split = splitRows(value)
  if (!split) return null
  // Twice as fast as SHA-256 where the processor has no instructions for that.
  const hash = createHash('blake2b512').update(split.frame)
  let bytes = Buffer.byteLength(split.frame)
  for (const row of split.rows) {
    hash.update(row)
    bytes += row.length * NUMBER_BYTES
  }
  return { etag: `W/"${hash.digest('base64url').slice(0, 27)}"`, bytes }
}
