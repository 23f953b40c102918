/**
 * Text held as its bytes of UTF-8, which an answer, a hash and a store take as they are: to turn the rows of a page into a string and back costs as much
 * as making them.
 */
export class ByteText {
  /** The bytes, one part behind the other. Parts may end within a character. */
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts
    this.byteLength = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  toString(): string {
    return Buffer.concat(this.parts, this.byteLength).toString()
  }
}
