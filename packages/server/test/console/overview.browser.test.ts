import { describe, expect, it } from 'vitest'
import { expectAccessible, signIn } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('the overview', { timeout: 120_000 }, () => {
  it('shows what comes in and what goes out', async () => {
    await flow.go()
    await flow.see('Records, last 24 h')
    await flow.page.getByRole('cell', { name: 'Transfer', exact: true }).waitFor()
    await flow.page.getByRole('cell', { name: 'waiting' }).waitFor()
    await flow.see('unconfigured')
    await flow.page.getByRole('region', { name: 'Versions' }).getByText('active').waitFor()
    await flow.see('Dead letters')
    await flow.see(/iB free$/)
  })

  it('shows the engines, the disk, and what each project stores', async () => {
    await signIn(flow.page, flow.service.administratorKey)
    await flow.page.getByRole('cell', { name: 'chDB, embedded' }).waitFor()
    await flow.page.getByRole('cell', { name: 'SQLite, embedded' }).waitFor()
    await flow.page.getByRole('meter', { name: 'Used disk' }).waitFor()
    await flow.page
      .getByRole('row', { name: /acme\/dex/ })
      .getByText(/KiB.*rows/)
      .waitFor()
    await expectAccessible(flow.page)
  })

  it('keeps the state of the service from a key of one owner', async () => {
    const wish = { name: 'acme', owner: 'acme', permissions: ['admin', 'read'] }
    const { body } = await flow.service.post('/keys', wish)
    await signIn(flow.page, body.secret)
    await flow.page.getByRole('row', { name: /acme\/dex/ }).waitFor()
    expect(await flow.page.getByText('chDB').count()).toBe(0)
    expect(await flow.page.getByRole('alert').count()).toBe(0)
  })

  it('creates a project, refuses a name that is none, and says how data comes in', async () => {
    await signIn(flow.page, flow.service.administratorKey)
    await flow.press('New project')
    await flow.page.getByLabel('Owner').fill('acme')
    await flow.page.getByLabel('Name').fill('no spaces')
    await flow.press('Create project')
    await flow.see(/Letters, digits/)
    await flow.page.getByLabel('Name').fill('fresh')
    await flow.press('Create project')
    await flow.page.getByRole('link', { name: 'acme/fresh' }).click()
    await flow.see('No data yet')
    await flow.see(/ingest\/acme\/fresh\/batch/)
    await expectAccessible(flow.page)
  })

  it('says that the connection is lost, and goes on by itself', async () => {
    await flow.go()
    await flow.see('Records, last 24 h')
    await flow.page.context().setOffline(true)
    await flow.see(/The service does not answer/)
    await flow.page.context().setOffline(false)
    // What failed meanwhile is asked for anew: neither the banner nor an error of a part stays.
    await flow.page.getByRole('alert').first().waitFor({ state: 'detached' })
    await flow.page.getByRole('cell', { name: 'Transfer', exact: true }).waitFor()
  })

  it('shows a dash and no zero until the service has answered', async () => {
    let answer = (): void => undefined
    const isAnswered = new Promise<void>((resolve) => (answer = resolve))
    await flow.page.route('**/webhook/channels/**', async (route) => {
      await isAnswered
      await route.fallback()
    })
    await flow.go()
    const waiting = flow.page.locator('.stat', { hasText: 'Messages waiting' })
    await waiting.getByText('not known yet').waitFor()
    expect(await waiting.getByRole('definition').innerText()).toMatch(/^–/)
    answer()
    await waiting.getByText(/^the queue is empty|^the oldest came/).waitFor()
  })

  it('goes on after a failure so short that only one request met it', async () => {
    await flow.go()
    await flow.page.getByRole('cell', { name: 'Transfer', exact: true }).waitFor()
    let isRefused = true
    await flow.page.route('**/sql/tables', (route) => (isRefused ? route.abort() : route.fallback()))
    await flow.page.reload()
    await flow.see(/The service does not answer\. Is it running/)
    isRefused = false
    await flow.page.getByRole('cell', { name: 'Transfer', exact: true }).waitFor()
  })
})
