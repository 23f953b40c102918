import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { expectAccessible, launchBrowser, openPage, signIn } from './browser.ts'
import { seedProject } from './seed.ts'

let service: TestService
let receiver: Receiver
let browser: Browser
let page: Page
let faults: string[]

beforeAll(async () => {
  service = await startTestService()
  receiver = await startReceiver()
  await seedProject(service, 'acme/dex')
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
  await receiver.close()
  await service.stop()
})
beforeEach(async () => {
  ;({ page, faults } = await openPage(browser, service.url))
})
afterEach(async () => {
  await page.context().close()
  expect(faults).toEqual([])
})

const PROJECT = '/p/acme/dex'
const go = (path = '') => signIn(page, service.administratorKey, PROJECT + path)
const see = (text: string | RegExp) => page.getByText(text).first().waitFor()
const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()

describe('signing in', { timeout: 120_000 }, () => {
  it('says why a key is refused, then leads to the page that was asked for', async () => {
    await page.goto(`${PROJECT}/sql`)
    await page.getByLabel('API key').fill('wrong-key-wrong-key-wrong-key')
    await press('Sign in')
    await see(/unknown, revoked or expired/)
    await expectAccessible(page)
    await page.getByLabel('API key').fill(service.administratorKey)
    await press('Sign in')
    await page.getByRole('heading', { name: 'SQL' }).waitFor()
    await press('Sign out')
    await page.getByLabel('API key').waitFor()
  })

  it('leads to no other site afterwards', async () => {
    await signIn(page, service.administratorKey, '/sign-in?next=//example.com')
    expect(new URL(page.url()).origin).toBe(service.url)
  })

  it('offers a key only what it may do, and ends when the key is revoked', async () => {
    const { body } = await service.post('/keys', { name: 'reader', permissions: ['read'] })
    await signIn(page, body.secret, PROJECT)
    await page.getByRole('link', { name: 'SQL' }).waitFor()
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0)
    await page.goto(`${PROJECT}/webhooks`)
    await see(/managed with a key that has the permission admin/)
    await fetch(`${service.url}/api/v1/keys/${body.key.id}`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    })
    await page.getByRole('link', { name: 'Data' }).click()
    await page.getByLabel('API key').waitFor()
  })
})

describe('the overview', { timeout: 120_000 }, () => {
  it('shows what comes in and what goes out', async () => {
    await go()
    await see('Records, last 24 h')
    await page.getByRole('cell', { name: 'Transfer', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'waiting' }).waitFor()
    await see('unconfigured')
  })

  it('creates a project, refuses a name that is none, and says how data comes in', async () => {
    await signIn(page, service.administratorKey)
    await press('New project')
    await page.getByLabel('Owner').fill('acme')
    await page.getByLabel('Name').fill('no spaces')
    await press('Create project')
    await see(/Letters, digits/)
    await page.getByLabel('Name').fill('fresh')
    await press('Create project')
    await page.getByRole('link', { name: 'acme/fresh' }).click()
    await see('No data yet')
    await see(/ingest\/acme\/fresh\/batch/)
    await expectAccessible(page)
  })

  it('says that the connection is lost, and goes on by itself', async () => {
    await go()
    await page.context().setOffline(true)
    await see(/The service does not answer/)
    await page.context().setOffline(false)
    await page
      .getByText(/The service does not answer/)
      .first()
      .waitFor({ state: 'detached' })
  })
})

describe('the metrics explorer', { timeout: 120_000 }, () => {
  it('keeps the whole view in the address', async () => {
    await go('/metrics')
    await press('price')
    await see(/2 series/)
    await press('Function')
    await page.getByRole('option', { name: 'rollup_max', exact: true }).click()
    await page.getByLabel('Argument of rollup_max').waitFor()
    await page.getByRole('button', { name: 'Formula', exact: true }).click()
    await page.getByLabel('Formula 1', { exact: true }).last().fill('a * 2')
    await page.keyboard.press('Enter')
    await see(/4 series/)
    await page.getByRole('radio', { name: 'Table' }).click()
    await page.getByRole('table', { name: 'Values' }).waitFor()
    await page.reload()
    await page.getByRole('table', { name: 'Values' }).waitFor()
    await see(/4 series/)
    await expectAccessible(page)
  })

  it('draws, zooms into a range, and exports what it asked as cURL', async () => {
    await go('/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]'))
    await see(/2 series/)
    const chart = await page.getByRole('img', { name: /line chart of 2 series/ }).boundingBox()
    if (!chart) throw new Error('the chart has no place')
    const y = chart.y + chart.height / 2
    await page.mouse.move(chart.x + chart.width * 0.4, y)
    await page.mouse.down()
    await page.mouse.move(chart.x + chart.width * 0.7, y, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/from=/)
    await press('Export')
    const command = await page.getByRole('region', { name: 'cURL' }).innerText()
    expect(command).toContain('/api/v1/metrics/acme/dex/query_range')
    expect(command).toContain('$MILLRACE_API_KEY')
  })

  it('says what is wrong with an argument, and with a formula', async () => {
    await go('/metrics?queries=' + encodeURIComponent('[{"metric":"price","functions":[["rate","1x"]]}]'))
    await see(/A number and s, m, h/)
    await page.goto(
      `${PROJECT}/metrics?queries=${encodeURIComponent('[{"metric":"price"}]')}&formulas=${encodeURIComponent('[{"expression":"a +"}]')}`,
    )
    await page.getByRole('alert').first().waitFor()
  })
})

describe('the SQL editor', { timeout: 120_000 }, () => {
  const type = async (sql: string) => {
    await page.getByLabel('SQL statement').click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(sql)
  }

  it('runs a statement and fetches pages as they come into sight', async () => {
    await go('/sql')
    await type('select * from Transfer order by block_number')
    await press('Run')
    await see('2,000 rows so far, more as you scroll')
    await page.getByRole('table', { name: 'Result' }).hover()
    await page.mouse.wheel(0, 500_000)
    await see(/4,000 rows/)
    await page.mouse.wheel(0, 500_000)
    await see(/6,000 rows/)
    await page.mouse.wheel(0, 500_000)
    // As it was sent: 31 digits.
    await page.getByText('1000000000000000000000000005999').waitFor()
    await expectAccessible(page)
  })

  it('marks a fault where it is, and takes parameters', async () => {
    await go('/sql')
    await type('select 1 frm Transfer where')
    await press('Run')
    await see(/Syntax error/)
    await page.locator('.cm-lintRange-error').waitFor()
    await type('select {n:UInt32} + 1 as answer')
    await page.getByLabel('n: UInt32').fill('41')
    await press('Run')
    await page.getByRole('cell', { name: '42' }).waitFor()
  })

  it('cancels, saves, and downloads the whole result', async () => {
    await go('/sql')
    await type('select sum(sipHash64(toString(number)) % 7) from numbers(999999999)')
    await press('Run')
    await press('Cancel')
    await see(/Cancelled after/)
    await type('select to, amount from Transfer order by block_number')
    await press('Run')
    await see(/2,000 rows/)
    await press('Saved')
    await page.getByLabel('Name for the present statement').fill('amounts')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'amounts', exact: true }).click()
    await press('Download')
    const download = page.waitForEvent('download')
    await press('Download file')
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split(/\r?\n/)
    expect(lines).toHaveLength(6001)
  })
})

describe('webhooks', { timeout: 120_000 }, () => {
  it('creates a channel, shows its secret once, tests, pauses, edits and deletes it', async () => {
    await go('/webhooks')
    await press('New channel')
    await page.getByLabel('Name', { exact: true }).fill('alerts')
    await page.getByLabel('Address of the receiver').fill('ftp://example.com')
    await press('Create channel')
    await see(/begins with https/)
    await page.getByLabel('Address of the receiver').fill(receiver.url)
    await expectAccessible(page)
    await press('Create channel')
    await see(/whsec_/)
    await press('I have copied it')
    await page.getByRole('link', { name: 'alerts' }).click()
    await press('Send a test')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await see('acknowledged 200')
    await press('Close')
    await press('Pause')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await press('Edit')
    await page.getByLabel('First wait').fill('soon')
    await press('Save changes')
    await see(/A number and ms/)
    await page.getByLabel('First wait').fill('5s')
    await press('Save changes')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await see(/5s, doubled up to 1h/)
    await press('Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await see(/whsec_/)
    await press('I have copied it')
    await expectAccessible(page)
    await press('Delete')
    await page.getByRole('button', { name: 'Delete channel' }).click()
    await page.getByRole('link', { name: 'alerts' }).waitFor({ state: 'detached' })
  })

  it('gives an address to a channel that exports have named, shows its dead letters, redrives and dismisses (IN-7)', async () => {
    receiver.answer = 500
    await go('/webhooks/waiting')
    await see(/their messages wait/)
    await press('Edit')
    await page.getByLabel('Address of the receiver').fill(receiver.url)
    for (const [label, value] of [
      ['First wait', '100ms'],
      ['Longest wait', '100ms'],
      ['Give up after', '100ms'],
      ['and failed attempts', '1'],
    ] as const) {
      await page.getByLabel(label).fill(value)
    }
    await press('Save changes')
    await page
      .getByRole('button', { name: 'I have copied it' })
      .or(page.getByRole('tab', { name: 'Dead letters' }))
      .first()
      .waitFor()
    const copied = page.getByRole('button', { name: 'I have copied it' })
    if (await copied.isVisible()) await copied.click()
    await page.getByRole('tab', { name: 'Dead letters' }).click()
    await press('Show')
    await see(/"export_name":"large"/)
    await press('Close')
    receiver.answer = 200
    await press('Redrive all')
    await page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await see(/are sent again/)
    await see(/No dead letter/)
    receiver.answer = 500
    await page.getByRole('tab', { name: 'Attempts' }).click()
    await see('acknowledged 200')
  })
})

describe('data and keys', { timeout: 120_000 }, () => {
  it('finds records by search and filter', async () => {
    await go('/data')
    await see(/500 records, more as you scroll/)
    await page.getByLabel('Search in all columns').fill('needle')
    await see(/^1 records/)
    await page.getByText('needle', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Entities' }).click()
    await page.getByText('alice', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText('active', { exact: true }).waitFor()
    await expectAccessible(page)
  })

  it('makes a key, shows it once, and revokes it', async () => {
    await signIn(page, service.administratorKey, '/keys')
    await press('New key')
    await press('Create key')
    await see('A name is needed')
    await page.getByLabel('Name').fill('indexer')
    await press('Create key')
    await see(/^mr_/)
    await press('I have copied it')
    const row = page.getByRole('row', { name: /indexer/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await row.waitFor({ state: 'detached' })
    await expectAccessible(page)
  })
})

describe('every page', { timeout: 120_000 }, () => {
  it('fits 360 pixels, in the dark too, with nothing serious for axe', async () => {
    await go()
    await page.setViewportSize({ width: 360, height: 780 })
    await page.evaluate(`localStorage.setItem('millrace-theme', 'dark')`)
    for (const path of [
      '/',
      '/keys',
      PROJECT,
      `${PROJECT}/metrics`,
      `${PROJECT}/sql`,
      `${PROJECT}/webhooks`,
      `${PROJECT}/data`,
    ]) {
      await page.goto(path)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await expectAccessible(page)
    }
  })
})
