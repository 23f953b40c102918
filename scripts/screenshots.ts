/**
 * `npm run screenshots`: every page of the console in light and dark, into docs/images. It starts a service with the
 * demo in a directory of its own and stops it afterwards.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { CHROMIUM } from '../packages/server/test/console/find-chromium.ts'

const root = join(import.meta.dirname, '..')
const images = join(root, 'docs', 'images')
const key = 'an-administrator-key-for-screenshots'

interface Shot {
  readonly name: string
  readonly path: string
  readonly prepare?: (page: Page) => Promise<unknown>
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).first().click()
const search = (parameters: Readonly<Record<string, unknown>>) =>
  Object.entries(parameters)
    .map(
      ([name, value]) =>
        `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join('&')

const DAILY = [['rollup_sum', '1d']]
const METRICS = search({
  queries: [
    { metric: 'mint_sum', functions: DAILY, alias: 'Minted in 24 h' },
    { metric: 'burn_sum', functions: DAILY, alias: 'Burned in 24 h' },
  ],
  formulas: [{ expression: 'a - b', alias: 'Net supply' }],
  from: 'now-30d',
  step: 3600,
})
const STATEMENT = `select toStartOfDay(timestamp) as day, count() as transfers, uniqExact(\`to\`) as receivers
from Transfer
group by day
order by day desc`

const SHOTS: readonly Shot[] = [
  { name: 'projects', path: '/', prepare: (page) => page.getByText('Disk', { exact: true }).waitFor() },
  { name: 'overview', path: '/p/demo/erc20' },
  { name: 'metrics', path: `/p/demo/erc20/metrics?${METRICS}` },
  {
    name: 'sql',
    path: `/p/demo/erc20/sql?${search({ sql: STATEMENT })}`,
    prepare: (page) => press(page, 'Run'),
  },
  { name: 'webhooks', path: '/p/demo/erc20/webhooks' },
  { name: 'channel', path: '/p/demo/erc20/webhooks/demo' },
  {
    name: 'dead-letters',
    path: '/p/demo/erc20/webhooks/demo-refused',
    prepare: (page) => page.getByRole('tab', { name: 'Dead letters' }).click(),
  },
  { name: 'data', path: '/p/demo/erc20/data' },
  { name: 'keys', path: '/keys' },
]

if (CHROMIUM === null) throw new Error('There is no Chromium: apt-get install chromium')
const directory = mkdtempSync(join(tmpdir(), 'millrace-screenshots-'))
const service = spawn(
  process.execPath,
  [join(root, 'packages/server/src/main.ts'), 'start', '--receiver-port', '18099'],
  {
    env: {
      ...process.env,
      MILLRACE_DATA_DIR: directory,
      MILLRACE_PORT: '0',
      MILLRACE_ADMIN_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  },
)
try {
  const baseUrl = await whenFilled()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  mkdirSync(images, { recursive: true })
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({
      baseURL: baseUrl,
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    })
    await context.addInitScript(`localStorage.setItem('millrace-theme', '${theme}')`)
    await takeShot(context, { name: 'sign-in', path: '/sign-in' }, theme)
    await signIn(await context.newPage())
    for (const shot of SHOTS) await takeShot(context, shot, theme)
    await context.close()
  }
  await browser.close()
} finally {
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('close', resolve))
  rmSync(directory, { recursive: true, force: true })
}

/** The address of the service, when the demo has sent what it begins with. */
async function whenFilled(): Promise<string> {
  let address = ''
  service.stderr.pipe(process.stderr)
  for await (const line of createInterface({ input: service.stdout })) {
    address = /Ready after .*?(http:\/\/\S+?)[ ]/.exec(line)?.[1] ?? address
    if (line.startsWith('Try it')) {
      service.stdout.resume()
      return address
    }
  }
  throw new Error('the service ended before it was ready')
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('API key').fill(key)
  await press(page, 'Sign in')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await page.close()
}

async function takeShot(
  context: BrowserContext,
  { name, path, prepare }: Shot,
  theme: string,
): Promise<void> {
  const page = await context.newPage()
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  await prepare?.(page)
  await page.waitForLoadState('networkidle')
  for (const bar of await page.getByRole('progressbar').all()) await bar.waitFor({ state: 'detached' })
  await page.getByText('not known yet').first().waitFor({ state: 'detached' })
  const file = join(images, `${name}-${theme}.png`)
  await page.screenshot({ path: file })
  process.stdout.write(`docs/images/${name}-${theme}.png\n`)
  await page.close()
}
