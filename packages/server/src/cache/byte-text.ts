import { ByteParts } from '../platform/byte-parts.ts'

/**
 * Text held as its bytes of UTF-8, which an answer, a hash and a store take as they are: to turn the rows of a page into a string and back costs as much
 * as making them. Parts may end within a character.
 */
export class ByteText extends ByteParts {
  override toString(): string {
    return this.whole().toString()
  }
}
