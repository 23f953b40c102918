import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { PROJECT, setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('the metrics explorer', { timeout: 120_000 }, () => {
  it('keeps the whole view in the address', async () => {
    await flow.go('/metrics')
    await flow.press('price')
    await flow.see(/2 series/)
    await flow.press('Function')
    await flow.page.getByRole('menuitem', { name: 'rollup_max' }).click()
    await flow.page.getByLabel('Argument of rollup_max').waitFor()
    await flow.page.getByRole('button', { name: 'Formula', exact: true }).click()
    await flow.page.getByLabel('Formula 1', { exact: true }).last().fill('a * 2')
    await flow.page.keyboard.press('Enter')
    await flow.see(/4 series/)
    await flow.page.getByRole('radio', { name: 'Table' }).click()
    await flow.page.getByRole('table', { name: 'Values' }).waitFor()
    await flow.page.reload()
    await flow.page.getByRole('table', { name: 'Values' }).waitFor()
    await flow.see(/4 series/)
    await expectAccessible(flow.page)
  })

  it('draws, zooms into a range, and exports what it asked as cURL', async () => {
    await flow.go('/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]'))
    await flow.see(/2 series/)
    const chart = await flow.page.getByRole('img', { name: /line chart of 2 series/ }).boundingBox()
    if (!chart) throw new Error('the chart has no place')
    const y = chart.y + chart.height / 2
    await flow.page.mouse.move(chart.x + chart.width * 0.4, y)
    await flow.page.mouse.down()
    await flow.page.mouse.move(chart.x + chart.width * 0.7, y, { steps: 5 })
    await flow.page.mouse.up()
    await flow.page.waitForURL(/from=/)
    await flow.press('Export')
    const command = await flow.page.getByRole('region', { name: 'cURL' }).innerText()
    expect(command).toContain('/api/v1/metrics/acme/dex/query_range')
    expect(command).toContain('$MILLRACE_API_KEY')
  })

  it('offers every function that the service knows, with a form for its arguments, and finds it by typing', async () => {
    await flow.go('/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]'))
    const { body } = await flow.service.get('/metrics/functions')
    await flow.press('Function')
    const offered = await flow.page.getByRole('menuitem').all()
    expect(offered).toHaveLength(body.functions.length)
    await flow.page.keyboard.type('quantile')
    await flow.page.keyboard.press('ArrowDown')
    await flow.page.keyboard.press('Enter')
    await flow.page.getByLabel('quantile of quantile_over_time').fill('2')
    await flow.see('A number from 0 to 1')
    await flow.page.getByLabel('quantile of quantile_over_time').fill('0.5')
    await flow.page.keyboard.press('Enter')
    await flow.page.waitForURL(/0\.5/)
    await flow.see(/2 series/)
    await flow.page.goBack()
    // What was typed goes with the view that it belonged to.
    await expect.poll(() => flow.page.getByLabel('quantile of quantile_over_time').inputValue()).toBe('0.95')
  })

  it('says what is wrong with an argument, and with a formula', async () => {
    await flow.go(
      '/metrics?queries=' + encodeURIComponent('[{"metric":"price","functions":[["rate","1x"]]}]'),
    )
    await flow.see(/A number and s, m, h/)
    await flow.page.goto(
      `${PROJECT}/metrics?queries=${encodeURIComponent('[{"metric":"price"}]')}&formulas=${encodeURIComponent('[{"expression":"a +"}]')}`,
    )
    await flow.page.getByRole('alert').first().waitFor()
  })
})
