import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createProjectStore } from '../../src/database/project-store.ts'
import type { Project } from '../../src/projects/project.ts'
import type { ProjectStore } from '../../src/projects/project-store.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

const ERC20 = { owner: 'demo', name: 'erc20', type: 'processor', isPublic: false } as const

const address = (project: Project) => `${project.owner}/${project.name}`

describe.each(controlDatabases)('project store on $name', ({ open }) => {
  let database: TestDatabase
  let store: ProjectStore
  beforeEach(async () => {
    database = await open()
    store = createProjectStore(database.db)
  })
  afterEach(() => database.close())

  it('returns what was put in, by exact address', async () => {
    const created = await store.insert(ERC20, 1)
    expect(created).toEqual({ ...ERC20, id: created?.id, activeVersion: null })
    expect(await store.find('demo', 'erc20')).toEqual(created)
    expect(await store.find('demo', 'ERC20')).toBeNull()
    expect(await store.find('erc20', 'demo')).toBeNull()
  })

  it('holds one project of a name per owner, also when two are made at once', async () => {
    const made = await Promise.all([store.insert(ERC20, 1), store.insert(ERC20, 1), store.insert(ERC20, 1)])
    expect(made.filter((project) => project !== null)).toHaveLength(1)
    expect(await store.insert({ ...ERC20, owner: 'other' }, 1)).not.toBeNull()
  })

  it('lists by owner and name', async () => {
    for (const [owner, name] of [
      ['b', 'x'],
      ['a', 'z'],
      ['a', 'y'],
    ] as const) {
      await store.insert({ ...ERC20, owner, name }, 1)
    }
    expect((await store.list(null)).map(address)).toEqual(['a/y', 'a/z', 'b/x'])
    expect((await store.list('a')).map(address)).toEqual(['a/y', 'a/z'])
  })

  it('makes version 1, active at once, and only once however many ask (IN-4)', async () => {
    const id = (await store.insert(ERC20, 1))?.id ?? 0
    const versions = await Promise.all([1, 2, 3, 4].map(() => store.ensureFirstVersion(id, 7)))
    expect(versions).toEqual([1, 1, 1, 1])
    expect(await store.versions(id)).toEqual([{ number: 1, state: 'active', createdAt: 7 }])
    expect((await store.find('demo', 'erc20'))?.activeVersion).toBe(1)
    await expect(store.ensureFirstVersion(id + 1, 7)).rejects.toThrow('is gone')
  })

  it('never gives the id of a deleted project to another, whose keys and facts it would inherit', async () => {
    const id = (await store.insert(ERC20, 1))?.id ?? 0
    await store.ensureFirstVersion(id, 1)
    await store.remove(id)
    expect(await store.find('demo', 'erc20')).toBeNull()
    expect(await store.versions(id)).toEqual([])
    expect((await store.insert(ERC20, 1))?.id).toBeGreaterThan(id)
  })

  it('changes publicity, and says when the project is gone', async () => {
    const id = (await store.insert(ERC20, 1))?.id ?? 0
    expect((await store.setPublic(id, true))?.isPublic).toBe(true)
    expect((await store.find('demo', 'erc20'))?.isPublic).toBe(true)
    expect(await store.setPublic(id + 1, true)).toBeNull()
  })
})
