import { describe, expect, it } from 'vitest'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()
const FIRST_LOAD_MAX_BYTES = 250_000

/** Bytes of scripts, styles and pictures as they come over the wire while `act` runs. */
async function transferred(act: () => Promise<unknown>): Promise<{ bytes: number; names: string[] }> {
  const session = await flow.page.context().newCDPSession(flow.page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const names = new Map<string, string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, response }) => names.set(requestId, response.url))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!names.get(requestId)?.includes('/api/')) bytes += encodedDataLength
  })
  await act()
  await flow.page.waitForLoadState('networkidle')
  await session.detach()
  return { bytes, names: [...names.values()] }
}

describe('the first load', { timeout: 120_000 }, () => {
  it('is below 250 kB, whichever page comes first, and leaves the editor out until it is opened', async () => {
    await flow.go()
    for (const path of [
      '/',
      '/p/acme/dex',
      '/p/acme/dex/metrics',
      '/p/acme/dex/webhooks',
      '/p/acme/dex/data',
      '/keys',
    ]) {
      const { bytes, names } = await transferred(() => flow.page.goto(path))
      expect(bytes, path).toBeGreaterThan(50_000)
      expect(bytes, path).toBeLessThan(FIRST_LOAD_MAX_BYTES)
      expect(names.filter((name) => name.includes('sql-page'))).toEqual([])
    }
    const editor = await transferred(() => flow.page.getByRole('link', { name: 'Projects' }).click())
    expect(editor.names.filter((name) => name.includes('sql-page'))).toEqual([])
    await flow.page.goto('/p/acme/dex')
    const opened = await transferred(async () => {
      await flow.page.getByRole('link', { name: 'SQL' }).click()
      await flow.page.getByLabel('SQL statement').waitFor()
    })
    expect(opened.names.filter((name) => name.includes('sql-page'))).not.toEqual([])
  })

  it('is kept by the browser: a file whose name holds its hash never changes', async () => {
    const page = await (await fetch(flow.service.url)).text()
    const [asset = ''] = /\/assets\/[\w.-]+\.js/.exec(page) ?? []
    const answer = await fetch(flow.service.url + asset)
    expect(answer.headers.get('cache-control')).toContain('immutable')
  })
})
