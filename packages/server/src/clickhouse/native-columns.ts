/**
 * Columns of ClickHouse's Native format, which the engine takes over as they are instead of reading them row by row:
 * https://clickhouse.com/docs/interfaces/formats/Native
 */
export interface NativeColumn {
  readonly name: string
  readonly type: string
  readonly data: readonly Uint8Array[]
}

/** A block of so many rows. */
export function nativeBlock(rows: number, columns: readonly NativeColumn[]): Uint8Array {
  const parts: Uint8Array[] = [variableInteger(columns.length), variableInteger(rows)]
  for (const { name, type, data } of columns) parts.push(text(name), text(type), ...data)
  return Buffer.concat(parts)
}

/** The bytes of numbers in the order of this machine, which is the format's: little-endian everywhere that Node 24 runs on with chDB. */
export function bytesOf(
  numbers: Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>,
  rows: number,
): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, rows * 8)
}

/** Sets the 64-bit integer at an even index to a whole number, which may be negative. */
export function setInteger(halves: Uint32Array, at: number, integer: number): void {
  const high = Math.floor(integer / 2 ** 32)
  halves[at] = integer - high * 2 ** 32
  halves[at + 1] = high
}

/** Texts of a String column, most of them empty: `texts` has holes where they are. */
export function stringColumn(rows: number, texts: readonly string[]): Uint8Array {
  if (texts.length === 0) return new Uint8Array(rows)
  return Buffer.concat(Array.from({ length: rows }, (_, row) => text(texts[row] ?? '')))
}

/** A column of LowCardinality(String): few texts, each row the index of one. */
export interface Dictionary {
  set(row: number, value: string): void
  data(rows: number): readonly Uint8Array[]
}

// Version of the serialisation; 32-bit indexes with the dictionary in the block itself.
const VERSION = 1n
const OWN_DICTIONARY_OF_32_BITS = 0x602n

/** Collects the texts of up to `capacity` rows. */
export function createDictionary(capacity: number): Dictionary {
  const indexes = new Uint32Array(capacity)
  // The first text of a dictionary stands for absence, the empty text.
  const known = new Map<string, number>([['', 0]])
  let last = ''
  let lastIndex = 0
  return {
    set(row, value) {
      if (value !== last) {
        last = value
        const index = known.get(value)
        lastIndex = index ?? known.size
        if (index === undefined) known.set(value, lastIndex)
      }
      indexes[row] = lastIndex
    },
    data: (rows) => [
      new Uint8Array(new BigUint64Array([VERSION, OWN_DICTIONARY_OF_32_BITS, BigInt(known.size)]).buffer),
      ...Array.from(known.keys(), text),
      new Uint8Array(new BigUint64Array([BigInt(rows)]).buffer),
      new Uint8Array(indexes.buffer, 0, rows * 4),
    ],
  }
}

function text(value: string): Uint8Array {
  const bytes = Buffer.from(value)
  return Buffer.concat([variableInteger(bytes.byteLength), bytes])
}

function variableInteger(integer: number): Uint8Array {
  const bytes: number[] = []
  let rest = integer
  while (rest > 0x7f) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}
