import { ByteText } from '../cache/byte-text.ts'
import type { Column } from './columns.ts'
import type { RowBatch } from './encode-rows.ts'

/** Part of a result, and where the rest of it is. */
export interface Page {
  readonly columns: readonly Column[]
  /** JSON text: objects with a member for every column, with commas between them. */
  readonly rows: ByteText
  readonly rowCount: number
  /** Epoch milliseconds of the execution. */
  readonly generatedAt: number
  /** Rows that its execution had read by then; absent where they were not counted. */
  readonly rowsRead?: number
  /** Null when these are the last rows. */
  readonly next: { readonly resultId: string; readonly firstRow: number } | null
}

/** Where a page ends, whichever comes first (SQ-5). A page holds at least one row. */
export interface PageLimit {
  readonly rows: number
  readonly bytes: number
}

const SEPARATOR_BYTES = 2
const NOTHING = Buffer.alloc(0)

/** Collects rows until a page is full. */
export class PageFill {
  rowCount = 0
  isFull = false
  readonly #limit: PageLimit
  readonly #parts: Buffer[] = []
  #bytes = 0

  constructor(limit: PageLimit) {
    this.#limit = limit
  }

  /** Of the rows so far. */
  get byteLength(): number {
    return this.#bytes
  }

  /** The rows so far, each followed by a comma and a line break. The last part may become longer, and others may follow. */
  get parts(): readonly Buffer[] {
    return this.#parts
  }

  /** How many rows it still takes, by their number alone. */
  get room(): number {
    return this.isFull ? 0 : this.#limit.rows - this.rowCount
  }

  /** Takes rows from the front of a batch until the page is full; returns how many. */
  take({ bytes, ends }: RowBatch): number {
    let taken = 0
    let end = 0
    for (const next of ends) {
      const isOver = this.rowCount > 0 && this.#bytes + next - end > this.#limit.bytes
      this.isFull ||= this.rowCount >= this.#limit.rows || isOver
      if (this.isFull) break
      this.#bytes += next - end
      this.rowCount++
      taken++
      end = next
    }
    if (end > 0) this.#add(bytes.subarray(0, end))
    return taken
  }

  /** Parts that lie one behind the other become one. */
  #add(part: Buffer): void {
    const last = this.#parts.at(-1)
    const isNext = last?.buffer === part.buffer && last.byteOffset + last.length === part.byteOffset
    if (!isNext) this.#parts.push(part)
    else
      this.#parts[this.#parts.length - 1] = Buffer.from(
        part.buffer,
        last.byteOffset,
        last.length + part.length,
      )
  }

  /** Lets go of a part that nobody needs any more; the others keep their places. */
  forget(place: number): void {
    this.#parts[place] = NOTHING
  }

  /** The rows taken, but for those that were forgotten. */
  text(): ByteText {
    return new ByteText(
      this.#parts.map((part, n) =>
        n === this.#parts.length - 1 ? part.subarray(0, part.length - SEPARATOR_BYTES) : part,
      ),
    )
  }
}
