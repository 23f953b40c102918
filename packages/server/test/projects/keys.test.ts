import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKeyStore } from '../../src/database/key-store.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createKeys, type Keys } from '../../src/projects/keys.ts'
import type { NewKey } from '../../src/projects/key-store.ts'
import { createSecret } from '../../src/projects/secret.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'

const READER: NewKey = {
  name: 'reader',
  owner: 'demo',
  permissions: ['read'],
  projectIds: null,
  expiresAt: null,
}

describe.each(controlDatabases)('keys on $name', ({ open }) => {
  let database: TestDatabase
  let clock: ManualClock
  let keys: Keys
  let other: Keys
  beforeEach(async () => {
    database = await open()
    clock = createManualClock()
    const instance = () => createKeys({ store: createKeyStore(database.db), clock, log: silentLogger })
    keys = instance()
    other = instance()
  })
  afterEach(() => database.close())

  it('admits the secret and returns what the key may do (AU-2)', async () => {
    const { key, secret } = await keys.create({
      ...READER,
      permissions: ['read', 'write'],
      projectIds: [3, 5],
    })
    expect(await keys.authenticate(secret)).toEqual(key)
    expect(key).toMatchObject({ owner: 'demo', permissions: ['read', 'write'], projectIds: [3, 5] })
  })

  it('stores a hash and no part of the secret (AU-1)', async () => {
    const { secret } = await keys.create(READER)
    const { rows } = await sql<object>`select * from api_key`.execute(database.db)
    const stored = JSON.stringify(rows, (_name, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    )
    expect(stored).not.toContain(secret.slice(3, 15))
  })

  it('refuses unknown, mistyped, revoked and expired keys (AU-3)', async () => {
    await expect(keys.authenticate(createSecret())).rejects.toMatchObject({ code: 'unauthenticated' })
    await expect(keys.authenticate('mr_oops')).rejects.toThrow('mistyped')
    await expect(keys.authenticate('')).rejects.toMatchObject({ code: 'unauthenticated' })
    const { secret } = await keys.create({ ...READER, expiresAt: clock.now() + 1000 })
    await keys.authenticate(secret)
    clock.advance(1000)
    await expect(keys.authenticate(secret)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('revokes at once here and within a second elsewhere (AU-1)', async () => {
    const { key, secret } = await keys.create(READER)
    await keys.authenticate(secret)
    await other.authenticate(secret)
    const revoked = await keys.revoke(key.id)
    expect(revoked?.revokedAt).toBe(clock.now())
    await expect(keys.authenticate(secret)).rejects.toMatchObject({ code: 'unauthenticated' })
    clock.advance(1000)
    await expect(other.authenticate(secret)).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await keys.revoke(key.id))?.revokedAt).toBe(revoked?.revokedAt)
    expect(await keys.revoke(12_345)).toBeNull()
  })

  it('admits a key that another instance made a moment after it was refused', async () => {
    await expect(keys.authenticate(createSecret())).rejects.toThrow('unknown')
    const { secret } = await other.create(READER)
    expect(await keys.authenticate(secret)).toMatchObject({ name: 'reader' })
  })

  it('refuses keys that would open nothing or are dead already, naming the field', async () => {
    await expect(keys.create({ ...READER, permissions: [] })).rejects.toThrow('permissions must hold')
    await expect(keys.create({ ...READER, name: ' ' })).rejects.toThrow('name must be')
    await expect(keys.create({ ...READER, owner: 'a/b' })).rejects.toThrow('owner must be')
    await expect(keys.create({ ...READER, expiresAt: clock.now() })).rejects.toThrow('expiresAt must be')
  })

  it('makes one administrator key at the first start and none later (AU-4)', async () => {
    const secrets = await Promise.all([keys, other].map((each) => each.ensureAdministratorKey({})))
    const [secret, none] = secrets.toSorted((a, b) => Number(a === null) - Number(b === null))
    expect(none).toBeNull()
    const administrator = await keys.authenticate(secret ?? '')
    expect(administrator).toMatchObject({
      owner: null,
      projectIds: null,
      permissions: ['read', 'write', 'admin'],
    })
    expect(await keys.ensureAdministratorKey({})).toBeNull()
    await keys.revoke(administrator.id)
    expect(await keys.ensureAdministratorKey({})).toMatch(/^mr_/)
  })

  it('takes an administrator key from the configuration, again at every start, and never repeats it (AU-4)', async () => {
    const supplied = 'a-long-secret-from-a-vault-0001'
    expect(await keys.ensureAdministratorKey({ supplied })).toBeNull()
    expect(await keys.ensureAdministratorKey({ supplied })).toBeNull()
    expect(await keys.ensureAdministratorKey({})).toBeNull()
    const key = await keys.authenticate(supplied)
    expect(await keys.list(null)).toHaveLength(1)
    await keys.revoke(key.id)
    await expect(keys.ensureAdministratorKey({ supplied })).rejects.toThrow(
      'revoked, expired or no administrator',
    )
    for (const wrong of ['short', createSecret().slice(0, -1)]) {
      await expect(keys.ensureAdministratorKey({ supplied: wrong })).rejects.toThrow(
        /^MILLRACE_ADMIN_KEY must have 24 characters or more, and be a whole key of this service/,
      )
    }
  })
})

describe('use of a key', () => {
  it('is noted at most once a minute and never waited for (AU-1)', async () => {
    const clock = createManualClock()
    const touched: number[] = []
    const key = { ...READER, id: 1, createdAt: 0, revokedAt: null, lastUsedAt: null }
    const store = {
      findByHash: (hash: Uint8Array) => Promise.resolve({ key, hash }),
      touch: (_id: number, usedAt: number) => {
        touched.push(usedAt)
        return new Promise<void>(() => {})
      },
    } as Partial<ReturnType<typeof createKeyStore>> as ReturnType<typeof createKeyStore>
    const keys = createKeys({ store, clock, log: silentLogger })
    const secret = createSecret()
    const start = clock.now()
    for (let second = 0; second < 150; second++) {
      await keys.authenticate(secret)
      clock.advance(1000)
    }
    expect(touched).toEqual([start, start + 60_000, start + 120_000])
  })
})

describe.each(controlDatabases)('key store on $name', ({ open }) => {
  it('keeps the newest use and lists by owner', async () => {
    const database = await open()
    const store = createKeyStore(database.db)
    const key = await store.insert(READER, new Uint8Array(32).fill(1), 5)
    await store.insert({ ...READER, owner: null }, new Uint8Array(32).fill(2), 5)
    await store.touch(key.id, 20)
    await store.touch(key.id, 10)
    expect((await store.find(key.id))?.lastUsedAt).toBe(20)
    expect(await store.list('demo')).toHaveLength(1)
    expect(await store.list(null)).toHaveLength(2)
    await expect(store.insert(READER, new Uint8Array(32).fill(1), 5)).rejects.toThrow(/unique/i)
    await database.close()
  })
})
