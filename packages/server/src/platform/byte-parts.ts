/** Bytes that stand one part behind the other and are not put together until they have to be. */
export class ByteParts {
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts
    this.byteLength = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  whole(): Buffer {
    return Buffer.concat(this.parts, this.byteLength)
  }
}
