import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { failure } from '../../test/support/failure.ts'
import { createFactEngine } from './create-fact-engine.ts'
import type { FactEngine } from './fact-engine.ts'

const WHOLE = '{"n":1}\n{"n":2}\n'
const CUT_AT = 8

const endings: (() => unknown)[] = []

afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

/** An engine that tells the length of each answer, and loses the first ones behind their first line. */
async function engineThatLoses(count: number): Promise<{ engine: FactEngine; requests: () => number }> {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.setHeader('content-length', WHOLE.length)
    if (requests > count) response.end(WHOLE)
    else response.write(WHOLE.slice(0, CUT_AT), () => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const engine = createFactEngine({ url: `http://127.0.0.1:${port}`, username: 'default', password: '' })
  endings.push(() => engine.close().then(() => server.close()))
  return { engine, requests: () => requests }
}

it('asks again for a short answer that is lost on its way, and gives no part of it (ER-4)', async () => {
  const { engine, requests } = await engineThatLoses(1)
  let text = ''
  for await (const bytes of await engine.stream('select n', 'JSONEachRow')) text += String(bytes)
  expect([text, requests()]).toEqual([WHOLE, 2])
})

it('says that the engine cannot be reached where a short answer is lost twice (ER-4)', async () => {
  const { engine, requests } = await engineThatLoses(2)
  expect((await failure(engine.rows('select n'))).code).toBe('unavailable')
  expect(requests()).toBe(2)
})
