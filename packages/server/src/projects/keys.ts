import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { invalidArgument, ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { KeyStore, NewKey, StoredKey } from './key-store.ts'
import { checkOwnerName } from './names.ts'
import { PERMISSIONS, type ApiKey } from './project.ts'
import { createSecret, hashSecret, isMistyped, SECRET_PREFIX } from './secret.ts'
import { createShortMemory } from './short-memory.ts'

const TOUCH_EVERY_MS = 60_000
const TOUCHED_MAX = 10_000
const SUPPLIED_LENGTH_MIN = 24
const HASHES_MAX = 1000

const ADMINISTRATOR: NewKey = {
  name: 'administrator',
  owner: null,
  permissions: PERMISSIONS,
  projectIds: null,
  expiresAt: null,
}

export interface KeysOptions {
  readonly store: KeyStore
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** The API keys of the service. */
export interface Keys {
  /** The secret is in this answer and nowhere else (AU-1). */
  create(key: NewKey): Promise<{ readonly key: ApiKey; readonly secret: string }>
  find(keyId: number): Promise<ApiKey | null>
  /** Of one owner, or all when null. */
  list(owner: string | null): Promise<readonly ApiKey[]>
  /** Works at once on this instance and within a second on others. Null when there is no such key. */
  revoke(keyId: number): Promise<ApiKey | null>
  /** The key of a secret; throws `unauthenticated` for an unknown, revoked or expired one (AU-3). */
  authenticate(secret: string): Promise<ApiKey>
  /** The same of a key that was looked up a moment ago; null where it has to be looked up, or is refused. */
  recall(secret: string): ApiKey | null
  /**
   * Sees to it that there is an administrator key (AU-4). Returns the secret of a key it made, which nobody else will
   * ever see, or null. A key supplied by configuration is stored like any other; it is not returned.
   */
  ensureAdministratorKey(options: { readonly supplied?: string | undefined }): Promise<string | null>
}

interface HashedSecret {
  readonly hash: Buffer
  /** The hash as text. */
  readonly name: string
}

/** Keys on a store, remembered for a second. */
export function createKeys({ store, clock, log }: KeysOptions): Keys {
  const memory = createShortMemory<StoredKey>(clock)
  const touchedAt = new Map<number, number>()
  const hashes = new Map<string, HashedSecret>()

  /** Never waited for: a use is noted beside the request, at most once a minute. */
  function noteUse(key: ApiKey): void {
    const now = clock.monotonic()
    if (now - (touchedAt.get(key.id) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return
    if (touchedAt.size >= TOUCHED_MAX) touchedAt.clear()
    touchedAt.set(key.id, now)
    store.touch(key.id, clock.now()).catch((error: unknown) => {
      log.warn({ err: error, keyId: key.id }, 'key.use_not_noted')
    })
  }

  /** Callers present the same few secrets again and again. */
  function hashOf(secret: string): HashedSecret {
    const known = hashes.get(secret)
    if (known) return known
    const hash = hashSecret(secret)
    const hashed = { hash, name: hash.toString('base64') }
    if (hashes.size >= HASHES_MAX) hashes.clear()
    hashes.set(secret, hashed)
    return hashed
  }

  /** Null for a key that is not admitted. */
  function admit(stored: StoredKey | null | undefined, hash: Buffer): ApiKey | null {
    if (!stored || !timingSafeEqual(stored.hash, hash) || !isUsable(stored.key, clock.now())) return null
    noteUse(stored.key)
    return stored.key
  }

  async function storeSupplied(secret: string): Promise<void> {
    checkSuppliedKey(secret)
    const hash = hashSecret(secret)
    const stored = await store.findByHash(hash)
    if (!stored) {
      await store.insert(ADMINISTRATOR, hash, clock.now()).catch(async (error: unknown) => {
        // Another instance, given the same key, was faster.
        if (!(await store.findByHash(hash))) throw error
      })
      return
    }
    if (!isUsable(stored.key, clock.now()) || !isAdministrator(stored.key)) {
      throw new ServiceError(
        'failed_precondition',
        `the supplied administrator key is known as key ${stored.key.id}, which is revoked, expired or no administrator; supply another`,
      )
    }
  }

  return {
    create: async (key) => {
      checkNewKey(key, clock.now())
      const secret = createSecret()
      return { key: await store.insert(key, hashSecret(secret), clock.now()), secret }
    },

    find: (keyId) => store.find(keyId),
    list: (owner) => store.list(owner),

    revoke: async (keyId) => {
      const revoked = await store.revoke(keyId, clock.now())
      memory.forget()
      return revoked
    },

    authenticate: async (secret) => {
      if (isMistyped(secret)) throw new ServiceError('unauthenticated', 'the API key is mistyped or cut off')
      const { hash, name } = hashOf(secret)
      const key = admit(await memory.read(name, () => store.findByHash(hash)), hash)
      if (key) return key
      throw new ServiceError('unauthenticated', 'the API key is unknown, revoked or expired')
    },

    recall: (secret) => {
      const hashed = hashes.get(secret)
      return hashed ? admit(memory.recall(hashed.name), hashed.hash) : null
    },

    ensureAdministratorKey: async ({ supplied }) => {
      if (supplied !== undefined) {
        await storeSupplied(supplied)
        return null
      }
      const keys = await store.list(null)
      if (keys.some((key) => isAdministrator(key) && isUsable(key, clock.now()))) return null
      const secret = createSecret()
      const created = await store.insertFirstAdministrator(ADMINISTRATOR, hashSecret(secret), clock.now())
      return created ? secret : null
    },
  }
}

/** Throws `invalid_argument` for an administrator key of the configuration that no request could present, or that is easily guessed (AU-4). */
export function checkSuppliedKey(secret: string): void {
  if (secret.length < SUPPLIED_LENGTH_MIN || isMistyped(secret)) {
    throw invalidArgument(
      `MILLRACE_ADMIN_KEY must have ${SUPPLIED_LENGTH_MIN} characters or more, and be a whole key of this service if it begins with ${SECRET_PREFIX}`,
    )
  }
}

function isUsable(key: ApiKey, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)
}

function isAdministrator(key: ApiKey): boolean {
  return key.owner === null && key.projectIds === null && key.permissions.includes('admin')
}

function checkNewKey(key: NewKey, now: number): void {
  if (key.owner !== null) checkOwnerName(key.owner)
  if (key.name.trim() === '' || key.name.length > 100)
    throw invalidArgument('name must be 1 to 100 characters')
  if (key.permissions.length === 0) {
    throw invalidArgument(`permissions must hold one or more of ${PERMISSIONS.join(', ')}`)
  }
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidArgument('expiresAt must be in the future')
}
