import { Readable } from 'node:stream'

/** Longer answers are sent part by part: putting them together takes as much memory again. */
const WHOLE_BYTES_MAX = 2 ** 20

/** The bytes of an answer, one part behind the other. */
export class AnswerParts {
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts
    this.byteLength = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  whole(): Buffer {
    return Buffer.concat(this.parts, this.byteLength)
  }

  /** What is given to be sent. */
  body(setHeader: (name: string, value: string) => void): Buffer | Readable {
    if (this.byteLength <= WHOLE_BYTES_MAX) return this.whole()
    setHeader('content-length', String(this.byteLength))
    return Readable.from(this.parts, { objectMode: false })
  }
}
