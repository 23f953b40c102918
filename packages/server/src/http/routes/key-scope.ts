import { ServiceError } from '../../platform/errors.ts'
import type { ApiKey } from '../../projects/project.ts'

/** The owner itself, if the key may manage what belongs to that owner; a key of the whole service may. */
export function ofOwner<Owner extends string | null>(key: ApiKey | null, owner: Owner): Owner {
  if (key && (key.owner === null || key.owner === owner)) return owner
  throw new ServiceError('permission_denied', `the API key manages only what belongs to ${key?.owner}`)
}
