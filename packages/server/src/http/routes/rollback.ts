import { RollbackAnswer, RollbackRequest } from '@millrace/contract'
import type { Ingest } from '../../ingest/ingest.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `POST /ingest/{owner}/{project}/rollback` (IN-3). */
export function rollbackRoute(ingest: Pick<Ingest, 'rollBack'>): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/ingest/:owner/:project/rollback',
    permission: 'write',
    summary: 'Removes every record of a chain above a block, after a reorganisation.',
    description:
      'Pending webhook messages of those blocks are withdrawn; delivered ones are overridden when the blocks are sent again. May be repeated.',
    tag: 'ingest',
    body: RollbackRequest,
    answer: RollbackAnswer,
    handle: ({ project, body }) =>
      ingest.rollBack(project, {
        chain: body.chain,
        blockNumber: body.blockNumber,
        version: body.version ?? null,
      }),
  })
}
