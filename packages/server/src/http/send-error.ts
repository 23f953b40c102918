import { ERRORS } from '@millrace/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import { isProtobuf, protobufNumber, protobufText } from './protobuf.ts'

/** Sends any failure in the form of ER-1, or as the same in protobuf where a route says so. What is not a `ServiceError` is logged in full and tells the caller nothing (ER-2). */
export function createErrorHandler(log: Logger) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const error = toServiceError(thrown)
    const { code, status } = ERRORS[error.code]
    if (status >= 500) log.error({ requestId: request.id, err: error.cause ?? thrown }, 'request.failed')
    if (error.retryAfterSeconds !== undefined)
      void reply.header('retry-after', Math.ceil(error.retryAfterSeconds))
    if (request.routeOptions.config.hasProtobufErrors && isProtobuf(request.headers['content-type'])) {
      const body = Buffer.concat([protobufNumber(1, code), protobufText(2, error.message)])
      return reply.status(status).type('application/x-protobuf').send(body)
    }
    return reply.status(status).send({ code, message: error.message, details: error.details })
  }
}

/** What the HTTP library refuses by itself, in the words of the catalogue. */
function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const { code, statusCode, message } = thrown as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError(
        'payload_too_large',
        'the body exceeds the limit set by MILLRACE_BODY_LIMIT_BYTES',
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError(
        'invalid_argument',
        'content-type must be a media type such as application/json',
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ServiceError('invalid_argument', 'content-length does not equal the length of the body')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new ServiceError('invalid_argument', message ?? 'the request is malformed')
        : new ServiceError(
            'internal',
            'internal error; the log of the service has the cause under this request id',
            { cause: thrown },
          )
  }
}
