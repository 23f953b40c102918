import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidArgument } from '../platform/errors.ts'

/** Where the next page begins. */
export interface Cursor {
  readonly projectId: number
  readonly resultId: string
  /** Number of its first row, from 0. */
  readonly firstRow: number
  readonly pageSize: number
}

const VERSION = 1
const SIGNATURE_BYTES = 16
const CHARACTERS_MAX = 512

/** Writes and reads cursors: opaque, signed, bound to their project (CU-2). */
export interface CursorCodec {
  encode(cursor: Cursor): string
  /** Throws `invalid_argument` unless the text was written for this project by an instance with the same secret. */
  decode(text: string, projectId: number): Cursor
}

/** A codec with the secret that all instances share. */
export function createCursorCodec(secret: Uint8Array): CursorCodec {
  const sign = (payload: Uint8Array): Buffer =>
    createHmac('sha256', secret).update('sql-cursor').update(payload).digest().subarray(0, SIGNATURE_BYTES)

  return {
    encode({ projectId, resultId, firstRow, pageSize }) {
      const payload = Buffer.from(JSON.stringify([VERSION, projectId, resultId, firstRow, pageSize]))
      return Buffer.concat([sign(payload), payload]).toString('base64url')
    },

    decode(text, projectId) {
      // Only the one spelling that `encode` writes: decoders skip letters that mean nothing.
      const bytes = text.length <= CHARACTERS_MAX ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
      const payload = bytes.subarray(SIGNATURE_BYTES)
      const isOurs =
        payload.length > 0 &&
        bytes.toString('base64url') === text &&
        timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), sign(payload))
      if (!isOurs)
        throw invalidArgument('cursor is not one that this service has returned; send it unchanged')
      const [, owner, resultId, firstRow, pageSize] = JSON.parse(payload.toString()) as [
        number,
        number,
        string,
        number,
        number,
      ]
      if (owner !== projectId) throw invalidArgument('cursor belongs to another project')
      return { projectId, resultId, firstRow, pageSize }
    },
  }
}
