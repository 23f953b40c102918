const DATA = Buffer.from(',"data":')
const TAIL = ',"data":null,"retracted":true}'

/** What of a message precedes its data; null for a message that is a retraction itself. */
export function headOf(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.byteLength >= TAIL.length && bytes.toString('latin1', bytes.byteLength - TAIL.length) === TAIL) {
    return null
  }
  // An export name is JSON text, whose quotes are escaped: the first match is the member.
  return bytes.toString('utf8', 0, bytes.indexOf(DATA))
}

/** Announces that a delivered message does not exist any more, after a reorganisation (DL-13). */
export function serializeRetraction(head: string): Uint8Array {
  return Buffer.from(head + TAIL)
}
