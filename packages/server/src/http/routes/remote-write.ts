import { Type } from 'typebox'
import { acceptTranslation } from '../../ingest/accept-translation.ts'
import { ProtobufFault } from '../../ingest/decode-protobuf.ts'
import { fromRemoteWrite } from '../../ingest/from-remote-write.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { readVersion } from '../../ingest/parse-body.ts'
import { decompressSnappy, SnappyFault } from '../../ingest/snappy.ts'
import { invalidArgument, ServiceError } from '../../platform/errors.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `POST /prometheus/{owner}/{project}/write`: remote write 1.0 of Prometheus and of everything that speaks it. */
export function remoteWriteRoute(ingest: Pick<Ingest, 'accept'>, bodyLimitBytes: number): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/prometheus/:owner/:project/write',
    permission: 'write',
    summary: 'Takes samples by Prometheus remote write 1.0, as gauges.',
    description:
      'The body is a snappy block of protobuf. Samples at fault are left out and told with status 400; the rest is stored.',
    tag: 'ingest',
    query: Type.Object({ version: Type.Optional(Type.Integer({ minimum: 0 })) }),
    body: 'raw',
    consumes: ['application/x-protobuf'],
    isBodyCompressedByProtocol: true,
    answer: Type.Null(),
    status: 204,
    handle: async ({ project, query, body, headers }) => {
      if (/io\.prometheus\.write\.v2/.test(String(headers['content-type']))) {
        throw new ServiceError('unimplemented', 'remote write 2.0 is not taken; send version 1.0')
      }
      const { rejected } = await acceptTranslation(ingest, project, read(body), {
        source: 'remote-write',
        version: readVersion(query.version),
      })
      if (rejected.length > 0) {
        throw invalidArgument(
          `${rejected.length} were refused, the rest is stored: ${rejected.slice(0, 5).join('; ')}`,
        )
      }
      return undefined
    },
  })

  function read(body: Uint8Array) {
    try {
      return fromRemoteWrite(decompressSnappy(body, bodyLimitBytes))
    } catch (error) {
      if (error instanceof SnappyFault) throw invalidArgument(`the body is no snappy block: ${error.message}`)
      if (!(error instanceof ProtobufFault)) throw error
      throw invalidArgument(`the body is no write request: ${error.message}`)
    }
  }
}
