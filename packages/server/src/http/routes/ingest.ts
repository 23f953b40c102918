import { IngestAnswer, IngestBatch, IngestQuery } from '@millrace/contract'
import type { Ingest } from '../../ingest/ingest.ts'
import { readBatchId, readVersion } from '../../ingest/parse-body.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** Media types of a body; the first holds one object, the others a record a line. */
const MEDIA_TYPES = ['application/json', 'application/x-ndjson', 'application/ndjson', 'application/jsonl']

/** `POST /ingest/{owner}/{project}/batch` (IN-1, IN-2). */
export function ingestRoute(ingest: Pick<Ingest, 'accept'>): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/ingest/:owner/:project/batch',
    permission: 'write',
    summary: 'Stores a batch of counters, gauges, events, entity changes and exports, whole or not at all.',
    description: `${describeBody()} The answer comes after everything is durable; a repeated batch id changes nothing and answers as before.`,
    tag: 'ingest',
    query: IngestQuery,
    body: 'raw',
    example:
      '{"type": "gauge", "name": "price", "value": 1.25, "labels": {"pool": "a"}, "time": "2026-01-01T00:00:00Z"}',
    consumes: MEDIA_TYPES,
    answer: IngestAnswer,
    handle: ({ project, query, body, headers }) =>
      ingest.accept(project, {
        body,
        contentType: single(headers['content-type']),
        batchId: readBatchId(query.batchId ?? single(headers['batch-id'])),
        version: readVersion(query.version),
      }),
  })
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}

function describeBody(): string {
  const fields = Object.keys(IngestBatch.properties).join(', ')
  return `As JSON the body is one object with ${fields}; as NDJSON every line is a record, and batchId and version are query parameters. JSON may have 8 MiB; send more as NDJSON.`
}
