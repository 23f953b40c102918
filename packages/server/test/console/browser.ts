import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { CHROMIUM } from './find-chromium.ts'

if (!existsSync(new URL('../../../console/dist/index.html', import.meta.url))) {
  throw new Error('The console is not built; build it first: npm run console:build')
}

/** Starts a headless Chromium. */
export function launchBrowser(): Promise<Browser> {
  // Tests run as root in containers, where Chromium's own sandbox cannot be.
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-gpu'] })
}

/** A page that fails the test when the console breaks: an exception, or something that the policy refused. */
export async function openPage(browser: Browser, baseUrl: string): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ baseURL: baseUrl, viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(25_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text())
  })
  return { page, faults }
}

/** Signs in through the form. */
export async function signIn(page: Page, key: string, path = '/'): Promise<void> {
  await page.goto(path)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Checks that axe finds nothing serious on the page as it stands. */
export async function expectAccessible(page: Page): Promise<void> {
  // By the debugger's protocol, beside the policy of the page.
  await page.evaluate(await axe)
  const found = await page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')))`,
  )
  expect(found).toEqual([])
}
