/**
 * `npm run console:measure`: how fluid the console is in a real headless Chromium with real data. It draws 100 series of
 * 1000 points, moves the pointer over them, and scrolls 100 000 rows; it reports frames and tasks that held the page.
 * Every figure is of this machine and without a graphics card.
 */
import process from 'node:process'
import type { Page } from 'playwright-core'
import { launchBrowser, openPage, signIn } from '../packages/server/test/console/browser.ts'
import { startTestService, type TestService } from '../packages/server/test/support/service.ts'

const SERIES = 100
const POINTS = 1000
const ROWS = 100_000
const MINUTE_MS = 60_000
const PROJECT = '/p/acme/dex'

interface Watched {
  readonly frames: readonly number[]
  readonly longTasks: readonly number[]
}

const service = await startTestService()
const browser = await launchBrowser()
try {
  await seed(service)
  const { page } = await openPage(browser, service.url)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.addInitScript(watchScript())
  await signIn(page, service.administratorKey, PROJECT)
  await measureChart(page)
  await measureRows(page)
} finally {
  await browser.close()
  await service.stop()
}

async function seed({ post }: TestService): Promise<void> {
  await post('/projects', { owner: 'acme', name: 'dex' })
  const start = Date.now() - POINTS * MINUTE_MS
  for (let point = 0; point < POINTS; point += 100) {
    const lines = Array.from({ length: 100 }, (_, index) => index + point).flatMap((each) =>
      Array.from({ length: SERIES }, (_, series) =>
        JSON.stringify({
          type: 'gauge',
          name: 'price',
          value: 100 + series + 10 * Math.sin((each + series * 7) / 40),
          labels: { pool: String(series) },
          chain: '1',
          blockNumber: each,
          time: new Date(start + each * MINUTE_MS).toISOString(),
        }),
      ),
    )
    const { status } = await post('/ingest/acme/dex/batch', lines.join('\n'), {
      'content-type': 'application/x-ndjson',
    })
    if (status !== 200) throw new Error('the seed was refused')
  }
}

async function measureChart(page: Page): Promise<void> {
  const state = new URLSearchParams({
    queries: JSON.stringify([{ metric: 'price' }]),
    from: `now-${POINTS - 2}m`,
    step: '60',
  })
  const openedAt = performance.now()
  await page.goto(`${PROJECT}/metrics?${state.toString()}`)
  await page.getByText(new RegExp(`${SERIES} series · \\d+ points`)).waitFor()
  say('chart: from the address to the drawn chart', `${Math.round(performance.now() - openedAt)} ms`)
  say('chart: what is drawn', await page.getByText(/series · \d+ points/).innerText())
  const box = await page.getByRole('img', { name: /line chart/ }).boundingBox()
  if (!box) throw new Error('the chart has no place')
  report(
    'chart: pointer over it',
    await watching(page, async () => {
      for (let step = 0; step < 240; step++) {
        await page.mouse.move(
          box.x + 80 + ((box.width - 100) * step) / 240,
          box.y + box.height * (0.3 + 0.4 * ((step % 60) / 60)),
        )
      }
    }),
  )
  report(
    'chart: hiding and showing series',
    await watching(page, async () => {
      for (let place = 0; place < 10; place++) {
        await page.getByRole('region', { name: 'Legend' }).getByRole('button').nth(place).click()
      }
    }),
  )
}

async function measureRows(page: Page): Promise<void> {
  await page.goto(
    `${PROJECT}/sql?sql=${encodeURIComponent(`select number as n, sipHash64(number) as hash, toString(number) as text, now() as at from numbers(${ROWS})`)}`,
  )
  await page.getByRole('button', { name: 'Run' }).click()
  const grid = page.getByRole('grid', { name: 'Result' })
  await grid.hover()
  const fetchedAt = performance.now()
  report(
    'rows: scrolling to the end while pages come',
    await watching(page, async () => {
      while (!(await page.getByText(`${ROWS.toLocaleString('en')} rows`, { exact: true }).isVisible())) {
        await page.mouse.wheel(0, 60_000)
        await page.waitForTimeout(16)
      }
    }),
  )
  say('rows: all pages fetched in', `${Math.round(performance.now() - fetchedAt)} ms`)
  report(
    'rows: scrolling through what is there',
    await watching(page, async () => {
      for (let step = 0; step < 300; step++) await page.mouse.wheel(0, step % 100 < 50 ? -4000 : 1500)
    }),
  )
  say('rows: rows in the document', String(await grid.getByRole('row').count()))
}

async function watching(page: Page, act: () => Promise<void>): Promise<Watched> {
  await page.evaluate('window.watched.start()')
  await act()
  return page.evaluate<Watched>('window.watched.stop()')
}

/** Frames as the page is given them, and tasks of more than 50 ms as the browser counts them. */
function watchScript(): string {
  return `(() => {
    let frames = [], longTasks = [], isOn = false
    new PerformanceObserver((list) => { if (isOn) longTasks.push(...list.getEntries().map((entry) => entry.duration)) }).observe({ type: 'longtask' })
    const frame = (before) => (at) => { if (isOn) { frames.push(at - before); requestAnimationFrame(frame(at)) } }
    window.watched = {
      start() { frames = []; longTasks = []; isOn = true; requestAnimationFrame((at) => requestAnimationFrame(frame(at))) },
      stop() { isOn = false; return { frames, longTasks } },
    }
  })()`
}

function report(what: string, { frames, longTasks }: Watched): void {
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round((sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 10) / 10
  const slow = frames.filter((ms) => ms > 50).length
  say(
    what,
    `${frames.length} frames, median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms, ${slow} above 50 ms; ${longTasks.length} long tasks, longest ${Math.round(Math.max(0, ...longTasks))} ms`,
  )
}

function say(what: string, figure: string): void {
  process.stdout.write(`${what}: ${figure}\n`)
}
