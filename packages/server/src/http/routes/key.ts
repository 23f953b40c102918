import { KeyView } from '@millrace/contract'
import { Type } from 'typebox'
import { ServiceError } from '../../platform/errors.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { keyToWire, managerOfKeys, type KeyRouteDependencies } from './keys.ts'

/** `DELETE /keys/{id}`. */
export function keyRoutes({ keys, projects }: KeyRouteDependencies): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'DELETE',
      path: '/keys/:id',
      permission: 'admin',
      summary: 'Revokes a key, at once. It stays in the list.',
      tag: 'management',
      params: Type.Object({
        id: Type.String({ pattern: '^[0-9]{1,15}$', description: 'A decimal number.' }),
      }),
      answer: KeyView,
      handle: async ({ params, key }) => {
        const manager = managerOfKeys(key)
        const doomed = await keys.find(Number(params.id))
        const isManaged = doomed !== null && (manager.owner === null || manager.owner === doomed.owner)
        const revoked = isManaged ? await keys.revoke(doomed.id) : null
        // A key of another owner is said not to exist, so that ids tell nothing.
        if (!revoked) throw new ServiceError('not_found', `key ${params.id} does not exist`)
        return keyToWire(revoked, await projects.list(manager.owner))
      },
    }),
  ]
}
