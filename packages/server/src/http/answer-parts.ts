import { Readable } from 'node:stream'
import { ByteParts } from '../platform/byte-parts.ts'
import { takeAnswerMemory } from './answer-memory.ts'

/** Longer answers are sent part by part: putting them together takes as much memory again. */
const WHOLE_BYTES_MAX = 2 ** 20
/** For shorter ones new memory costs less than a piece that many of them would fit in. */
const LENT_BYTES_MIN = 2 ** 15

/** The bytes of an answer, one part behind the other. */
export class AnswerParts extends ByteParts {
  /** The same in memory that is lent perhaps: `giveBackAnswerMemory` when it was sent. */
  lent(): Buffer {
    if (this.byteLength < LENT_BYTES_MIN) return this.whole()
    const bytes = takeAnswerMemory(this.byteLength)
    let end = 0
    for (const part of this.parts) {
      bytes.set(part, end)
      end += part.byteLength
    }
    return bytes.subarray(0, end)
  }

  /** What is given to be sent; a short one is put together by `whole` or `lent`. */
  body(
    setHeader: (name: string, value: string) => void,
    make: 'whole' | 'lent' = 'whole',
  ): Buffer | Readable {
    if (this.byteLength <= WHOLE_BYTES_MAX) return this[make]()
    setHeader('content-length', String(this.byteLength))
    return Readable.from(this.parts, { objectMode: false })
  }
}
