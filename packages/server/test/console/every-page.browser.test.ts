import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { PROJECT, setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('every page', { timeout: 120_000 }, () => {
  it('fits 360 pixels, in the dark too, with nothing serious for axe', async () => {
    await flow.go()
    await flow.page.setViewportSize({ width: 360, height: 780 })
    await flow.page.evaluate(`localStorage.setItem('millrace-theme', 'dark')`)
    for (const path of [
      '/',
      '/keys',
      PROJECT,
      `${PROJECT}/metrics`,
      `${PROJECT}/sql`,
      `${PROJECT}/webhooks`,
      `${PROJECT}/data`,
    ]) {
      await flow.page.goto(path)
      await flow.page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await flow.page.waitForLoadState('networkidle')
      expect(await flow.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await expectAccessible(flow.page)
    }
  })
})
