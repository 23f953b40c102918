import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import { checkJsonSize } from '../platform/json-limit.ts'
import type { Access, AccessRequest, Admitted } from '../projects/access.ts'
import { createBodyMemory } from './body-memory.ts'
import { KEY_SECURITY } from './documentation.ts'
import { NOT_MODIFIED } from './cached-answer.ts'
import { presentedKey } from './presented-key.ts'
import type { ReadyAgain, Repeats } from './repeats.ts'
import type { AnyRoute } from './route.ts'
import { createReader } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    access: Admitted
  }
  interface FastifyContextConfig {
    hasProtobufErrors?: boolean
  }
}

/** The prefixes under which every route is served (WI-1). */
export const PREFIXES = ['/api/v1', '/v1'] as const

/** Puts a route under both prefixes: access first, then validation, then the call. */
export function registerRoute(
  app: FastifyInstance,
  { access, repeats }: { readonly access: Access; readonly repeats: Repeats },
  route: AnyRoute,
): void {
  const readParams = createReader(route.params ?? Type.Object({}), 'path')
  const readQuery = createReader(route.query ?? Type.Object({}), 'query')
  const readBody = route.body === undefined || route.body === 'raw' ? null : createReader(route.body, 'body')
  const addressOf = projectAddress(route)
  const memory = route.isOftenRepeated ? createBodyMemory() : null
  const parse = readBody && ((bytes: unknown) => readBody(parseJson(bytes)))

  function bodyOf(given: unknown): unknown {
    if (!parse) return given ?? new Uint8Array()
    return memory && given instanceof Uint8Array ? memory.read(given, parse) : parse(given)
  }

  function accessOf(request: FastifyRequest): AccessRequest {
    return {
      secret: presentedKey(request),
      permission: route.permission,
      project: addressOf(request),
      isPublicReadable: route.isPublicReadable ?? false,
    }
  }

  /** A body that was read ahead stands for the stream that it was read from. */
  function passBody(
    request: FastifyRequest,
    _reply: FastifyReply,
    payload: RequestPayload,
    done: (error: null, payload: RequestPayload) => void,
  ): void {
    done(null, repeats.takeBody(request.raw) ?? payload)
  }

  function noteRepeat(request: FastifyRequest, again: ReadyAgain): void {
    if (!(request.body instanceof Uint8Array)) return
    const { url = '' } = request.routeOptions
    const repeat = { route: url, access: accessOf(request), project: request.access.project, again }
    repeats.note(request.raw, request.body, repeat)
  }

  for (const prefix of PREFIXES) {
    app.route({
      method: route.method,
      url: prefix + route.path,
      schema: documentation(route, prefix),
      ...(route.isBodyCompressedByProtocol ? { decompress: false } : {}),
      config: { hasProtobufErrors: route.hasProtobufErrors ?? false },
      // Before the body is read: a caller without a key cannot make the service hold one.
      onRequest: async (request) => {
        request.access = await access.check(accessOf(request))
      },
      ...(memory ? { preParsing: passBody } : {}),
      handler: async (request, reply) => {
        const { key, project } = request.access
        const answer: unknown = await route.handle({
          params: readParams(request.params),
          query: readQuery(request.query),
          body: bodyOf(request.body),
          get project() {
            if (!project) throw new Error(`${route.path} names no project`)
            return project
          },
          key,
          get signal() {
            return callerSignal(request, reply)
          },
          requestId: request.id,
          headers: request.headers,
          isInterfacePrefix: prefix === '/api/v1',
          setHeader: (name, value) => void reply.header(name, value),
          whenSent: (done) => void reply.raw.once('finish', done),
          ...(memory ? { offerAgain: (again) => noteRepeat(request, again) } : {}),
        })
        if (answer === NOT_MODIFIED) return reply.status(304).send()
        return reply.status(route.status ?? 200).send(answer)
      },
    })
  }
}

/** How a request of the route addresses its project; null for routes that have none. */
function projectAddress(
  route: AnyRoute,
): (request: FastifyRequest) => { readonly owner: string; readonly name: string } | null {
  if (route.path.includes(':owner/:project')) {
    return ({ params }) => {
      const path = params as Readonly<Record<string, string>>
      return { owner: path['owner'] ?? '', name: path['project'] ?? '' }
    }
  }
  if (route.projectIn !== 'query') return () => null
  return ({ query }) => {
    const { projectId, project_id: inSnakeCase } = query as Readonly<Record<string, unknown>>
    const id = projectId ?? inSnakeCase
    const [owner, name, ...rest] = typeof id === 'string' ? id.split('/') : []
    if (owner && name && rest.length === 0) return { owner, name }
    throw invalidArgument('query.projectId: must be {owner}/{project}')
  }
}

/** Aborted when the connection closes before the answer was sent whole. */
function callerSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  request.raw.socket.once('close', onClose)
  reply.raw.once('finish', () => request.raw.socket.off('close', onClose))
  function onClose(): void {
    controller.abort(new ServiceError('cancelled', 'the caller went away'))
  }
  return controller.signal
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(body: unknown): unknown {
  if (body === undefined || (body as Uint8Array).length === 0) return {}
  checkJsonSize(body as Uint8Array)
  try {
    return JSON.parse(utf8.decode(body as Uint8Array))
  } catch (error) {
    throw invalidArgument(`the body is not valid JSON: ${(error as Error).message}`)
  }
}

/** The part of a route that OpenAPI shows. `/v1` repeats `/api/v1` and is left out. */
function documentation(route: AnyRoute, prefix: string): Record<string, unknown> {
  const body: TSchema | undefined = route.body === 'raw' ? Type.String({ format: 'binary' }) : route.body
  return {
    hide: prefix !== PREFIXES[0],
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[/:_-]+/g, '_')}`,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    params: pathParameters(route),
    ...(route.query ? { querystring: route.query } : {}),
    ...(body ? { body: route.example === undefined ? body : { ...body, examples: [route.example] } } : {}),
    ...(route.consumes ? { consumes: route.consumes } : {}),
    ...(route.permission === null ? { security: [] } : {}),
    ...(route.isPublicReadable ? { security: [...KEY_SECURITY, {}] } : {}),
    response: { [route.status ?? 200]: route.answer, default: { $ref: 'Error#' } },
  }
}

/** Every part of the path that varies; a route's own schema need not repeat owner and project. */
function pathParameters({ path, params }: AnyRoute): TSchema {
  const own: Readonly<Record<string, TSchema>> =
    params && 'properties' in params ? (params.properties as never) : {}
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return Type.Object(Object.fromEntries(names.map((name) => [name, own[name] ?? Type.String()])))
}
