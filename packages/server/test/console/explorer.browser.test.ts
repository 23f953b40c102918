import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { PROJECT, setUpConsole } from './console-flow.ts'
import { runShell, runTypeScript } from './run-exported.ts'

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
    await flow.page.getByRole('grid', { name: 'Values' }).waitFor()
    await flow.page.reload()
    await flow.page.getByRole('grid', { name: 'Values' }).waitFor()
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
    expect(command).not.toContain(flow.service.administratorKey)
    const answer = JSON.parse(await runShell(flow.service, command)) as {
      results: { matrix: { samples: unknown[] } }[]
    }
    expect(answer.results[0]?.matrix.samples).toHaveLength(2)
  })

  it('exports a program that runs, and a file of what is shown', async () => {
    await flow.go('/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]'))
    await flow.see(/2 series/)
    await flow.press('Export')
    await flow.page.getByRole('tab', { name: 'TypeScript' }).click()
    const program = await flow.page.getByRole('region', { name: 'TypeScript' }).innerText()
    expect(await runTypeScript(flow.service, program)).toMatch(/pool: 'b'|labels: \[Object\]/)
    await flow.page.getByRole('tab', { name: 'CSV' }).click()
    const download = flow.page.waitForEvent('download')
    await flow.press('Download CSV')
    const [head = '', ...lines] = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n')
    expect(head).toMatch(/^time,"price\{.*""a""/)
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,[\d.]*,[\d.]*$/)
  })

  it('takes a range in words, typed, and from a calendar, in a time zone', async () => {
    await flow.go(
      '/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]') + '&timezone=Asia%2FKolkata',
    )
    await flow.press('Last 7 days')
    await flow.press('Last 24 hours')
    await flow.page.waitForURL(/from=now-1d/)
    await flow.press('Last 24 hours')
    await flow.page.getByLabel('From', { exact: true }).fill('yesterday')
    await flow.press('Show this range')
    await flow.see(/now-<n> with s m h d w/)
    await flow.page.getByLabel('From', { exact: true }).fill('2026-03-01 12:30')
    await flow.page.getByLabel('To', { exact: true }).fill('2026-03-02')
    await flow.press('Show this range')
    // Half past twelve in Kolkata is seven o'clock in UTC.
    await flow.page.waitForURL((url) => url.search.includes(String(Date.UTC(2026, 2, 1, 7))))
    await flow.press(/2026-03-01 12:30/)
    await expectAccessible(flow.page)
    await flow.page.getByRole('button', { name: /March 3, 2026/ }).click()
    await flow.page.getByRole('button', { name: /March 5, 2026/ }).click()
    await flow.press('Show this range')
    await flow.see('2026-03-03 00:00 → 2026-03-06 00:00')
    await flow.see(/· Asia\/Kolkata/)
  })

  it('filters by a label, draws each form, hides a series, and zooms out', async () => {
    await flow.go('/metrics?queries=' + encodeURIComponent('[{"metric":"price"}]'))
    await flow.see(/2 series/)
    for (const view of ['Areas', 'Stacked', 'Bars', 'Lines']) {
      await flow.page.getByRole('radio', { name: view }).click()
      await flow.page.getByRole('img', { name: /chart of 2 series/ }).waitFor()
    }
    const legend = flow.page.getByRole('region', { name: 'Legend' }).getByRole('button').first()
    await legend.click()
    expect(await legend.getAttribute('aria-pressed')).toBe('false')
    await flow.press('Filter')
    await flow.page.getByRole('menuitem', { name: 'pool' }).click()
    await flow.see(/1 series/)
    await flow.page.getByRole('combobox', { name: 'Value of pool' }).fill('nothing')
    await flow.page.keyboard.press('Tab')
    await flow.see(/No data in this range/)
    await flow.press('Zoom out')
    await flow.page.waitForURL(/from=/)
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
