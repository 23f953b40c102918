import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { ERRORS } from '@millrace/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { invalidArgument } from '../platform/errors.ts'
import type { createErrorHandler } from './send-error.ts'

/** What Node refuses before there is a request, by its error code; everything else is malformed HTTP. */
const FAULTS: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'address and headers must have 16 KiB or less',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'the request took too long to arrive' },
}
const MALFORMED = { status: '400 Bad Request', message: 'this is no HTTP request that can be understood' }

/** Answers in the form of ER-1 what never became a request, and closes the connection. */
export function answerBrokenConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, message } = FAULTS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ code: ERRORS.invalid_argument.code, message, details: [] })
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}

/** Answers in the form of ER-1 an address that matches no route because it cannot be read. No hook runs for it. */
export function createBadAddressHandler(handleError: ReturnType<typeof createErrorHandler>) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    void reply.header('x-request-id', request.id)
    const message =
      error.code === 'FST_ERR_MAX_PARAM_LENGTH'
        ? 'each part of the path must have 512 characters or less'
        : 'the path must be percent-encoded UTF-8'
    handleError(invalidArgument(message), request, reply)
  }
}
