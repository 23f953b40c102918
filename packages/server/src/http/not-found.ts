import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'
import type { AnyRoute } from './route.ts'
import type { createErrorHandler } from './send-error.ts'

/** What is served beside the routes of the API. */
const PLAIN_PATHS = /^\/(healthz|readyz|openapi\.json|docs)\/?$/

/** Tells an unknown path (404) from a known one with the wrong method (405 with `allow`, ER-5). */
export function createNotFoundHandler(
  handleError: ReturnType<typeof createErrorHandler>,
  routes: readonly AnyRoute[],
) {
  const known = [
    ...routes.map(({ method, path }) => ({
      method,
      pattern: new RegExp(`^(/api)?/v1${path.replaceAll(/:\w+/g, '[^/]+')}/?$`),
    })),
    { method: 'GET', pattern: PLAIN_PATHS },
  ]
  return (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?')[0] ?? ''
    const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    if (methods.length === 0) {
      const message = `no such path: ${path.slice(0, 200)}; see /docs`
      return handleError(new ServiceError('not_found', message), request, reply)
    }
    const allowed = [...new Set(methods)].join(', ')
    void reply.header('allow', allowed)
    const message = `${request.method} is not allowed here; allowed: ${allowed}`
    return handleError(new ServiceError('method_not_allowed', message), request, reply)
  }
}
