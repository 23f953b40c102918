import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const at = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }

describe('processor versions', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'acme', name: 'dex' })
    await service.post('/projects', { owner: 'acme', name: 'bridge' })
  })

  afterAll(() => service.stop())

  const upload = (project = 'acme/dex') => service.post(`/projects/${project}/versions`, '')
  const activate = (version: number) => service.post(`/projects/acme/dex/versions/${version}/activate`, '')
  const remove = (version: number) =>
    fetch(`${service.url}/api/v1/projects/acme/dex/versions/${version}`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    }).then(async (answer) => ({
      status: answer.status,
      body: (await answer.json()) as { message?: string },
    }))
  const send = (value: number, version?: number) =>
    service.post('/ingest/acme/dex/batch', {
      ...(version === undefined ? {} : { version }),
      records: [
        { type: 'gauge', name: 'price', value, ...at },
        { type: 'event', name: 'Sold', attributes: { value }, ...at },
        { type: 'upsert', name: 'Shop', id: 'a', attributes: { value }, ...at },
      ],
    })
  const seen = async (version?: number) => {
    const answer = await service.post('/analytics/acme/dex/sql/execute', {
      sqlQuery: {
        sql: 'select value from price union all select value from Sold union all select value from Shop',
      },
      ...(version === undefined ? {} : { version }),
      cachePolicy: { noCache: true },
    })
    if (answer.status !== 200) return answer.body.message as string
    // The order of a union is open.
    return (answer.body.result.rows as { value: number }[])
      .map(({ value }) => value)
      .toSorted((a, b) => a - b)
  }

  it('begin with 1, which is active at once, and each further one is pending (IN-4)', async () => {
    const answers = [await upload('acme/bridge'), await upload('acme/bridge'), await upload('acme/bridge')]
    expect(answers.map(({ status, body }) => [status, body.number, body.state])).toEqual([
      [201, 1, 'active'],
      [201, 2, 'pending'],
      [201, 3, 'pending'],
    ])
    expect((await service.get('/projects/acme/bridge')).body).toMatchObject({ activeVersion: 1 })
  })

  it('keep their data apart, and a query sees exactly one: the active one unless it names another (IN-4, MQ-9)', async () => {
    await send(1)
    await upload()
    await send(2, 2)
    expect(await seen()).toEqual([1, 1, 1])
    expect(await seen(2)).toEqual([2, 2, 2])
    expect((await activate(2)).body).toMatchObject({ number: 2, state: 'active' })
    expect(await seen()).toEqual([2, 2, 2])
    expect(await seen(1)).toEqual([1, 1, 1])
    expect((await send(3)).body).toMatchObject({ version: 2 })
    const { body } = await service.get('/projects/acme/dex/versions')
    expect(body.versions).toMatchObject([
      { number: 1, state: 'pending' },
      { number: 2, state: 'active' },
    ])
  })

  it('are deleted with their data, and their number is not used again (IN-4)', async () => {
    expect((await remove(2)).body.message).toContain('version 2 is the active one')
    const third = (await upload()).body as { number: number }
    expect(third).toMatchObject({ number: 3 })
    await send(3, 3)
    expect((await remove(3)).status).toBe(200)
    expect((await remove(3)).status).toBe(404)
    expect((await send(3, 3)).body.message).toContain('version 3 does not exist')
    expect((await activate(3)).status).toBe(404)
    expect(await seen(3)).toContain('version 3')
    expect((await upload()).body).toMatchObject({ number: 4 })
    expect(await seen()).toEqual([2, 2, 3, 3, 3])
  })
})
