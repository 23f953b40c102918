import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import compress from '@fastify/compress'
import { fastify, type FastifyBodyParser, type FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { Logger } from '../platform/logger.ts'
import type { Access } from '../projects/access.ts'
import { answerBrokenConnection, createBadAddressHandler } from './broken-request.ts'
import { registerConsole, type ConsoleOptions } from './console.ts'
import { registerDocumentation } from './documentation.ts'
import { createNotFoundHandler } from './not-found.ts'
import type { AnsweredRequest } from './exposition/request-counts.ts'
import { registerRoute } from './register-route.ts'
import { createRepeats } from './repeats.ts'
import type { AnyRoute } from './route.ts'
import { createErrorHandler } from './send-error.ts'

export interface AppOptions {
  readonly log: Logger
  readonly access: Access
  readonly routes: readonly AnyRoute[]
  readonly bodyLimitBytes: number
  /** Absent: no web console and no sessions. */
  readonly console?: ConsoleOptions
  /** Resolves when every engine answers; the reason goes to `/readyz`. */
  readonly checkReady: () => Promise<void>
  /** Told of every request that was answered. */
  readonly onAnswered?: (request: AnsweredRequest) => void
}

const REQUEST_TIMEOUT_MS = 300_000

/** Builds the HTTP application without listening. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { log } = options
  const handleError = createErrorHandler(log)
  const noteAnswered = (requestId: string, request: AnsweredRequest): void => {
    log.info({ requestId, ...request }, 'request.answered')
    options.onAnswered?.(request)
  }
  const repeats = createRepeats({ access: options.access, noteAnswered })
  const app = fastify({
    logger: false,
    serverFactory: (handle, { keepAliveTimeout, requestTimeout, connectionTimeout }) => {
      const server = createServer(repeats.listen(handle))
      server.keepAliveTimeout = Number(keepAliveTimeout)
      server.requestTimeout = Number(requestTimeout)
      return server.setTimeout(Number(connectionTimeout))
    },
    clientErrorHandler: answerBrokenConnection,
    frameworkErrors: createBadAddressHandler(handleError),
    bodyLimit: options.bodyLimitBytes,
    // Head and body. Without it whoever sends a byte now and then holds a connection for ever.
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    // Requests that arrive while the service stops are answered 503 by Fastify and told to close their connection.
    return503OnClosing: true,
    forceCloseConnections: 'idle',
  })
  app.addSchema({
    $id: 'Error',
    ...Type.Object({
      code: Type.Integer({ description: 'google.rpc code.' }),
      message: Type.String(),
      details: Type.Array(Type.Unknown()),
    }),
  })
  // Values are validated by the readers of each route and serialised by JSON.stringify; the schemas describe them in OpenAPI.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))

  app.removeAllContentTypeParsers()
  // Whatever a body says it is, it is taken for JSON, or for the lines that the route expects (WI-2).
  app.addContentTypeParser('*', { parseAs: 'buffer' }, asBytes)
  // The one that is found by its name, without being taken apart each time.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, asBytes)
  app.decorateRequest('access')

  app.setErrorHandler(handleError)
  app.setNotFoundHandler(createNotFoundHandler(handleError, options.routes))
  app.addHook('onSend', (request, reply, _payload, done) => {
    void reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    noteAnswered(request.id, {
      method: request.method,
      // The pattern, not the address: a query string may carry a key.
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
    })
    done()
  })

  app.addHook('preClose', (done) => {
    repeats.stop()
    done()
  })

  await app.register(compress, {
    encodings: ['br', 'zstd', 'gzip', 'identity'],
    threshold: 1024,
    globalDecompression: true,
  })
  await registerDocumentation(app)
  registerHealth(app, options.checkReady)
  // Before the routes: its hook must run before theirs.
  if (options.console) registerConsole(app, options.console)
  for (const route of options.routes) registerRoute(app, { access: options.access, repeats }, route)
  await app.ready()
  return app
}

const asBytes: FastifyBodyParser<Buffer> = (_request, body, done) => done(null, body)

function registerHealth(app: FastifyInstance, checkReady: () => Promise<void>): void {
  app.get('/healthz', { schema: healthSchema('healthz', 'Is the process alive?', 'alive') }, () => ({
    status: 'alive',
  }))
  app.get('/readyz', { schema: healthSchema('readyz', 'Does every engine answer?', 'ready') }, async () => {
    await checkReady()
    return { status: 'ready' }
  })
}

function healthSchema(operationId: string, summary: string, status: string) {
  return {
    operationId,
    summary,
    tags: ['service'],
    security: [],
    response: { 200: Type.Object({ status: Type.Literal(status) }), default: { $ref: 'Error#' } },
  }
}
