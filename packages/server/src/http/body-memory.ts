/** Bodies that were read a short while ago, with what was read. */
export interface BodyMemory {
  /** What `read` makes of the bytes: remembered, so it is frozen through and through. */
  read(body: Uint8Array, read: (body: Uint8Array) => unknown): unknown
}

const LONGEST_BODY_BYTES = 8192
const ROOM_BYTES = 4 * 2 ** 20

/**
 * Dashboards send the same bytes again and again, and reading them (JSON, both spellings, schema) follows from the bytes alone. Bounded;
 * the least recently used go first. What cannot be read is not remembered.
 */
export function createBodyMemory(): BodyMemory {
  const known = new Map<string, unknown>()
  let bytes = 0
  return {
    read: (body, read) => {
      if (!(body instanceof Buffer) || body.byteLength > LONGEST_BODY_BYTES) return read(body)
      const text = body.toString('latin1')
      let value = known.get(text)
      if (value === undefined) {
        value = freeze(read(body))
        bytes += body.byteLength
      } else known.delete(text)
      known.set(text, value)
      while (bytes > ROOM_BYTES) {
        const [oldest = ''] = known.keys()
        known.delete(oldest)
        bytes -= oldest.length
      }
      return value
    },
  }
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
