import type { Static, TSchema } from 'typebox'
import type { ReadyAgain } from './repeats.ts'
import type { ApiKey, Permission, Project } from '../projects/project.ts'

/** What a handler is given: everything validated, the project resolved, the key checked. */
export interface RouteContext<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The project that the path or the query names. Reading it in a route without those is a defect and throws. */
  readonly project: Project
  /** The key that was presented; null where none is needed. */
  readonly key: ApiKey | null
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal
  readonly requestId: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** True under `/api/v1`, whose answers carry the interface's own names at the top level (WI-3). */
  readonly isInterfacePrefix: boolean
  setHeader(name: string, value: string): void
  /** Calls back once the last byte of the answer was handed to the connection; never where that was lost before. */
  whenSent(done: () => void): void
  /** Tells how equal requests may be answered from now on; absent where the route is not often repeated. */
  readonly offerAgain?: (again: ReadyAgain) => void
}

/**
 * A route as data: where, who may, the schemas that validate it and describe it in OpenAPI (WI-6), and what it calls.
 * `permission` is checked on the route's project, or on the whole service where it has none; `null` needs no key.
 * `body: 'raw'` hands the bytes over unparsed. The answer is sent as JSON, or as it is when it is a Readable.
 */
export interface RouteDefinition<P extends TSchema, Q extends TSchema, B extends TSchema | 'raw'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1` and `/v1`, e.g. `/metrics/:owner/:project/query_range`. */
  readonly path: string
  readonly permission: Permission | null
  /** Where a project that the path does not name stands: in `?projectId={owner}/{project}`. */
  readonly projectIn?: 'query'
  /** May a public project be used without a key (AU-3)? */
  readonly isPublicReadable?: boolean
  readonly summary: string
  readonly description?: string
  readonly tag: 'metrics' | 'sql' | 'ingest' | 'webhook' | 'management'
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Do callers send the same body again and again? Then what was read of it is kept, and so may be the answer; handlers get it frozen. */
  readonly isOftenRepeated?: true
  /** A body to try, for OpenAPI. */
  readonly example?: unknown
  /** Media types of a raw body, for OpenAPI. */
  readonly consumes?: readonly string[]
  /** The `content-encoding` of a raw body is part of what the route reads, and is left to it. */
  readonly isBodyCompressedByProtocol?: true
  /** A request in protobuf is told its errors as a protobuf `google.rpc.Status`, as OTLP asks. */
  readonly hasProtobufErrors?: true
  readonly answer: TSchema
  /** Status of a good answer; 200 when absent. */
  readonly status?: number
  handle(
    context: RouteContext<Static<P>, Static<Q>, B extends 'raw' ? Uint8Array : Static<B & TSchema>>,
  ): unknown
}

/** A route whose schemas are forgotten by the type system, as the app keeps them in one list. */
export type AnyRoute = RouteDefinition<TSchema, TSchema, TSchema | 'raw'>

/** Checks a definition's types and forgets them. */
export function defineRoute<P extends TSchema, Q extends TSchema, B extends TSchema | 'raw'>(
  route: RouteDefinition<P, Q, B>,
): AnyRoute {
  return route
}
