import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { PROJECT, setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

const PAGES = [
  '/',
  '/keys',
  PROJECT,
  `${PROJECT}/metrics?queries=${encodeURIComponent('[{"metric":"price"}]')}`,
  `${PROJECT}/sql`,
  `${PROJECT}/webhooks`,
  `${PROJECT}/webhooks/waiting`,
  `${PROJECT}/data`,
  `${PROJECT}/data?tab=versions`,
]

describe.each([
  { name: 'a phone', width: 360, height: 780, theme: 'dark' },
  { name: 'a phone', width: 360, height: 780, theme: 'light' },
  { name: 'a large screen', width: 3840, height: 2160, theme: 'light' },
  { name: 'a laptop', width: 1366, height: 768, theme: 'dark' },
])('every page on $name, $theme', { timeout: 120_000 }, ({ width, height, theme }) => {
  it('fits, and has nothing serious for axe', async () => {
    await flow.go()
    await flow.page.setViewportSize({ width, height })
    await flow.page.evaluate(`localStorage.setItem('millrace-theme', '${theme}')`)
    for (const path of PAGES) {
      await flow.page.goto(path)
      await flow.page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await flow.page.waitForLoadState('networkidle')
      expect(await flow.page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
        width,
      )
      await expectAccessible(flow.page)
    }
  })
})
