/** How the keys of the last lines were written, each with what surrounds it: `{"type":`, then `,"name":`, and so on. */
export interface KeyOrder {
  /** The bit of the key that stands at `at` if it is written there as the one of this number was before, else 0. */
  bitAt(key: number, bytes: Uint8Array, at: number): number
  /** The length of the key of this number as it is remembered. */
  lengthAt(key: number): number
  /** Remembers the key that stands from `start` to `end`. */
  learn(key: number, bytes: Uint8Array, start: number, end: number, bit: number): void
}

const MAX_KEYS = 16
const MAX_LENGTH = 64

export function createKeyOrder(): KeyOrder {
  const spellings = Array.from({ length: MAX_KEYS }, () => new Uint8Array(MAX_LENGTH))
  const lengths = new Uint32Array(MAX_KEYS)
  const bits = new Uint32Array(MAX_KEYS)
  return {
    bitAt: (key, bytes, at) => {
      const spelling = spellings[key]
      if (!spelling) return 0
      const length = lengths[key] ?? 0
      for (let i = 0; i < length; i++) if (bytes[at + i] !== spelling[i]) return 0
      return bits[key] ?? 0
    },
    lengthAt: (key) => lengths[key] ?? 0,
    learn: (key, bytes, start, end, bit) => {
      const spelling = spellings[key]
      if (!spelling || end - start > MAX_LENGTH) return
      spelling.set(bytes.subarray(start, end))
      lengths[key] = end - start
      bits[key] = bit
    },
  }
}
