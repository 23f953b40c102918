import { Type } from 'typebox'
import { acceptTranslation, type AcceptedTranslation } from '../../ingest/accept-translation.ts'
import type { ProtobufFields } from '../../ingest/decode-protobuf.ts'
import { fromOtlpLogs } from '../../ingest/from-otlp-logs.ts'
import { fromOtlpMetrics } from '../../ingest/from-otlp-metrics.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { OtlpLogsRequest, OtlpMetricsRequest } from '../../ingest/otlp-protobuf.ts'
import { readVersion } from '../../ingest/parse-body.ts'
import { readOtlp } from '../../ingest/read-otlp.ts'
import type { Translation } from '../../ingest/translation.ts'
import type { Clock } from '../../platform/clock.ts'
import { isProtobuf, protobufNumber, protobufText } from '../protobuf.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

interface Signal {
  readonly name: 'metrics' | 'logs'
  readonly summary: string
  readonly fields: ProtobufFields
  /** How a partial success calls the number of what was refused. */
  readonly rejectedField: 'rejectedDataPoints' | 'rejectedLogRecords'
  translate(request: object): Translation
}

/**
 * `POST /otlp/{owner}/{project}/v1/metrics` and `…/v1/logs`: OTLP over HTTP, in protobuf and JSON. A sender is given
 * the address up to the project as its endpoint.
 */
export function otlpRoutes(ingest: Pick<Ingest, 'accept'>, clock: Clock): readonly AnyRoute[] {
  return [
    otlpRoute(ingest, {
      name: 'metrics',
      summary: 'Takes metrics of OpenTelemetry (OTLP/HTTP).',
      fields: OtlpMetricsRequest,
      rejectedField: 'rejectedDataPoints',
      translate: fromOtlpMetrics,
    }),
    otlpRoute(ingest, {
      name: 'logs',
      summary: 'Takes log records of OpenTelemetry (OTLP/HTTP) as events.',
      fields: OtlpLogsRequest,
      rejectedField: 'rejectedLogRecords',
      translate: (request) => fromOtlpLogs(request, clock.now() * 1000),
    }),
  ]
}

function otlpRoute(ingest: Pick<Ingest, 'accept'>, signal: Signal): AnyRoute {
  const { name, summary, fields, rejectedField, translate } = signal
  return defineRoute({
    method: 'POST',
    path: `/otlp/:owner/:project/v1/${name}`,
    permission: 'write',
    summary,
    description: 'What is at fault is left out and told as a partial success; the rest is stored.',
    tag: 'ingest',
    query: Type.Object({ version: Type.Optional(Type.Integer({ minimum: 0 })) }),
    body: 'raw',
    consumes: ['application/x-protobuf', 'application/json'],
    hasProtobufErrors: true,
    answer: Type.Object({
      partialSuccess: Type.Optional(
        Type.Object({ [rejectedField]: Type.String(), errorMessage: Type.String() }),
      ),
    }),
    handle: async ({ project, query, body, headers, setHeader }) => {
      const given = headers['content-type']
      const contentType = typeof given === 'string' ? given : given?.[0]
      const translation = readOtlp(body, isProtobuf(contentType), fields, translate)
      const outcome = await acceptTranslation(ingest, project, translation, {
        source: `otlp-${name}`,
        version: readVersion(query.version),
      })
      if (!isProtobuf(contentType)) return jsonAnswer(outcome, rejectedField)
      setHeader('content-type', 'application/x-protobuf')
      return protobufAnswer(outcome)
    },
  })
}

function jsonAnswer({ rejected }: AcceptedTranslation, rejectedField: string): object {
  if (rejected.length === 0) return {}
  return { partialSuccess: { [rejectedField]: String(rejected.length), errorMessage: explain(rejected) } }
}

/** The same message in protobuf: field 1 is the partial success, whose fields are the number and the explanation. */
function protobufAnswer({ rejected }: AcceptedTranslation): Buffer {
  if (rejected.length === 0) return Buffer.alloc(0)
  const partial = Buffer.concat([protobufNumber(1, rejected.length), protobufText(2, explain(rejected))])
  return protobufText(1, partial)
}

function explain(rejected: readonly string[]): string {
  const more = rejected.length > 5 ? `; and ${rejected.length - 5} more` : ''
  return rejected.slice(0, 5).join('; ') + more
}
