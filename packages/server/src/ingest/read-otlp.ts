import { invalidArgument } from '../platform/errors.ts'
import { checkJsonSize } from '../platform/json-limit.ts'
import { decodeProtobuf, ProtobufFault, type ProtobufFields } from './decode-protobuf.ts'
import type { Translation } from './translation.ts'

/** Decodes a request of OTLP, in protobuf or JSON, and translates it. Throws `invalid_argument` for what is no such request, `payload_too_large` for too much JSON. */
export function readOtlp(
  body: Uint8Array,
  isProtobuf: boolean,
  fields: ProtobufFields,
  translate: (request: object) => Translation,
): Translation {
  if (!isProtobuf) checkJsonSize(body, '; send more as protobuf')
  try {
    const request = isProtobuf
      ? decodeProtobuf(fields, body)
      : (JSON.parse(Buffer.from(body).toString('utf8')) as unknown)
    if (typeof request !== 'object' || request === null) throw new TypeError('it is no object')
    return translate(request)
  } catch (error) {
    // What has another shape than a request of OTLP fails where it is first read.
    const isMisshapen = [ProtobufFault, SyntaxError, TypeError, RangeError].some(
      (kind) => error instanceof kind,
    )
    if (!isMisshapen) throw error
    throw invalidArgument(`the body is not an export request of OTLP: ${(error as Error).message}`)
  }
}
