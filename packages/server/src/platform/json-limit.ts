import { ServiceError } from './errors.ts'

/**
 * Most bytes of a body that is parsed as JSON in one go. While that is done nothing else is answered: 8 MiB take about 65 ms of a core,
 * 60 MB half a second.
 */
export const MAX_JSON_BYTES = 8 * 1024 * 1024

/** Throws `payload_too_large` for a body of more JSON than that (ER-5); `instead` says how more is sent. */
export function checkJsonSize(body: Uint8Array, instead = ''): void {
  if (body.byteLength <= MAX_JSON_BYTES) return
  throw new ServiceError(
    'payload_too_large',
    `the body has ${body.byteLength} bytes of JSON; at most ${MAX_JSON_BYTES} are allowed${instead}`,
  )
}
