import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()
const SCRIPT = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'
/** The same without a slash, which no name of a channel has. */
const IMAGE = '<img src=x onerror="window.broken=1">'

let foreign: Server
let foreignUrl: string
beforeAll(async () => {
  foreign = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>elsewhere</title><body>')
  })
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  // Another origin of the same site: SameSite does not keep the cookie from it.
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => foreign.close(resolve)))

/** What a request of the foreign page comes to: a status, or that the browser kept it from happening. */
const tryFrom = (path: string, init: object) =>
  flow.page.evaluate<number | 'blocked'>(
    `fetch('${flow.service.url}${path}', ${JSON.stringify({ credentials: 'include', ...init })}).then((answer) => answer.status, () => 'blocked')`,
  )

describe('a console that is attacked', { timeout: 120_000 }, () => {
  it('does nothing for a page of another origin, though the browser sends it the cookie', async () => {
    await signIn(flow.page, flow.service.administratorKey)
    await flow.page.goto(foreignUrl)
    const mark = { 'x-millrace-session': '1' }
    expect(await tryFrom('/api/v1/projects', { headers: mark })).toBe('blocked')
    const wish = JSON.stringify({ owner: 'evil', name: 'made' })
    const headers = { ...mark, 'content-type': 'application/json' }
    expect(await tryFrom('/api/v1/projects', { method: 'POST', headers, body: wish })).toBe('blocked')
    // A request that the browser sends without asking first: it arrives, and is nobody's.
    await flow.page.evaluate(
      `fetch('${flow.service.url}/api/v1/projects', { method: 'POST', mode: 'no-cors', credentials: 'include', body: ${JSON.stringify(wish)} })`,
    )
    await flow.page.setContent(
      `<form method="post" enctype="text/plain" action="${flow.service.url}/api/v1/projects"><input name='{"owner":"evil","name":"made","x":"' value='"}'><button>win</button></form>`,
    )
    const answered = flow.page.waitForResponse(/\/projects/)
    await flow.page.getByText('win').click()
    expect((await answered).status()).toBe(401)
    expect((await flow.service.get('/projects/evil/made')).status).toBe(404)
  })

  it('is not signed in by another site, and not framed by it', async () => {
    await flow.page.goto(foreignUrl)
    await flow.page.setContent(
      `<form method="post" enctype="text/plain" action="${flow.service.url}/api/v1/session"><input name='{"key":"${flow.service.administratorKey}","x":"' value='"}'><button>win</button></form>`,
    )
    const answered = flow.page.waitForResponse(/\/session/)
    await flow.page.getByText('win').click()
    expect((await answered).status()).toBe(403)
    expect(await flow.page.context().cookies(flow.service.url)).toEqual([])
    await flow.page.goto(foreignUrl)
    await flow.page.setContent(`<iframe src="${flow.service.url}/sign-in"></iframe>`)
    await expect.poll(() => flow.faults.join()).toContain('frame-ancestors')
    flow.faults.length = 0
  })

  it('keeps the key and the session from scripts', async () => {
    await flow.go()
    const kept = 'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])'
    const visible = await flow.page.evaluate<string>(kept)
    expect(visible).not.toContain(flow.service.administratorKey)
    expect(visible).not.toContain('millrace_session')
    const [cookie] = await flow.page.context().cookies(flow.service.url)
    expect(cookie).toMatchObject({ name: 'millrace_session', httpOnly: true, sameSite: 'Strict' })
  })

  it('runs no script that was put into a page', async () => {
    await flow.go()
    await flow.page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.broken = 1' }))`,
    )
    await expect.poll(() => flow.faults.join()).toContain('script-src')
    flow.faults.length = 0
    expect(await flow.page.evaluate('window.broken')).toBeUndefined()
  })

  it('shows names, values and answers of others as text, whatever they hold', async () => {
    const place = {
      chain: '<script>window.broken=1</script>',
      blockNumber: 1,
      time: new Date(Date.now() - 7_200_000).toISOString(),
    }
    const records = [
      { type: 'gauge', name: 'price', value: 1, labels: { pool: SCRIPT }, ...place },
      { type: 'event', name: `e${SCRIPT}`, message: SCRIPT, attributes: { [SCRIPT]: SCRIPT }, ...place },
      { type: 'export', name: SCRIPT, channel: IMAGE, data: { text: SCRIPT }, ...place },
    ]
    await flow.service.post('/projects', { owner: 'acme', name: 'hostile' })
    const { status } = await flow.service.post('/ingest/acme/hostile/batch', { records })
    expect(status).toBe(200)
    const project = '/p/acme/hostile'
    await signIn(flow.page, flow.service.administratorKey, project)
    await flow.page.getByRole('cell', { name: '<script>window.broken=1</script>' }).first().waitFor()
    await flow.page.goto(
      `${project}/metrics?queries=${encodeURIComponent(JSON.stringify([{ metric: 'price', alias: SCRIPT }]))}`,
    )
    await flow.see(/1 series/)
    await flow.page.goto(`${project}/sql?sql=${encodeURIComponent(`select '${SCRIPT}' as \`${SCRIPT}\``)}`)
    await flow.press('Run')
    await flow.page.getByRole('gridcell', { name: SCRIPT }).waitFor()
    await flow.page.goto(`${project}/data?tab=events`)
    await flow.see(/1 record$/)
    await flow.page.goto(`${project}/webhooks`)
    await flow.page.getByRole('link', { name: IMAGE }).waitFor()
    expect(await flow.page.evaluate('window.broken')).toBeUndefined()
  })

  it('takes an address of anything for what it is: no page of another site, no script', async () => {
    for (const next of [
      'javascript:window.broken=1',
      '//example.com',
      '/\\example.com',
      'https://example.com/',
    ]) {
      await flow.page.context().clearCookies()
      await flow.page.goto(`/sign-in?next=${encodeURIComponent(next)}`)
      await flow.page.getByLabel('API key').fill(flow.service.administratorKey)
      await flow.press('Sign in')
      await flow.page.getByRole('button', { name: 'Sign out' }).waitFor()
      expect(new URL(flow.page.url()).origin).toBe(flow.service.url)
    }
    expect(await flow.page.evaluate('window.broken')).toBeUndefined()
    await flow.page.goto(
      '/p/acme/dex/metrics?queries=[{"metric":{"a":1}},7]&step=-1&view=evil&timezone=Mars&from={}',
    )
    await flow.see('Choose a metric')
  })
})
