import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { setUpConsole } from './console-flow.ts'
import { runShell } from './run-exported.ts'

const flow = setUpConsole()

describe('the SQL editor', { timeout: 120_000 }, () => {
  const type = async (sql: string) => {
    await flow.page.getByLabel('SQL statement').click()
    await flow.page.keyboard.press('ControlOrMeta+a')
    await flow.page.keyboard.press('Delete')
    await flow.page.keyboard.insertText(sql)
  }

  it('runs a statement and fetches pages as they come into sight', async () => {
    await flow.go('/sql')
    await type('select * from Transfer order by block_number')
    await flow.press('Run')
    await flow.see('2,000 rows so far, more as you scroll')
    await flow.see('read 6,000 rows before the first page')
    await flow.page.getByRole('grid', { name: 'Result' }).hover()
    await flow.page.mouse.wheel(0, 500_000)
    await flow.see(/^4,000 rows/)
    await flow.page.mouse.wheel(0, 500_000)
    await flow.see(/^6,000 rows/)
    await flow.page.mouse.wheel(0, 500_000)
    // As it was sent: 31 digits.
    await flow.page.getByText('1000000000000000000000000005999').waitFor()
    await expectAccessible(flow.page)
  })

  it('marks a fault where it is, and takes parameters', async () => {
    await flow.go('/sql')
    await type('select 1 frm Transfer where')
    await flow.press('Run')
    await flow.see(/Syntax error/)
    await flow.page.locator('.cm-lintRange-error').waitFor()
    await type('select {n:UInt32} + 1 as answer')
    await flow.page.getByLabel('n: UInt32').fill('41')
    await flow.press('Run')
    await flow.page.getByRole('gridcell', { name: '42' }).waitFor()
  })

  it('cancels, saves, and downloads the whole result', async () => {
    await flow.go('/sql')
    await type('select sum(sipHash64(toString(number)) % 7) from numbers(999999999)')
    await flow.press('Run')
    await flow.see(/read [\d,]+ rows of about 999,999,999/)
    await flow.press('Cancel')
    await flow.see(/Cancelled after/)
    await type('select to, amount from Transfer order by block_number')
    await flow.press('Run')
    await flow.see(/2,000 rows/)
    await flow.press('Saved')
    await flow.page.getByLabel('Name for the present statement').fill('amounts')
    await flow.page.getByRole('button', { name: 'Save', exact: true }).click()
    await flow.page.getByRole('button', { name: 'amounts', exact: true }).click()
    await flow.press('Download')
    const download = flow.page.waitForEvent('download')
    await flow.press('Download file')
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split(/\r?\n/)
    expect(lines).toHaveLength(6001)
    await flow.press('Download')
    await flow.page.getByRole('button', { name: /Format/ }).click()
    await flow.page.getByRole('option', { name: 'Parquet' }).click()
    const parquet = flow.page.waitForEvent('download')
    await flow.press('Download file')
    expect((await readFile(await (await parquet).path())).subarray(0, 4).toString()).toBe('PAR1')
  })

  it('opens a row with the keyboard, and copies it, and the rows, as text', async () => {
    await flow.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const clipboard = () => flow.page.evaluate<string>('navigator.clipboard.readText()')
    await flow.go('/sql')
    await type('select number as n, toString(number * 2) as twice from numbers(3)')
    await flow.page.keyboard.press('Control+Enter')
    await flow.see('3 rows')
    await flow.page.getByRole('button', { name: 'Copy', exact: true }).click()
    await flow.see('Copied')
    expect(await clipboard()).toBe('n\ttwice\n0\t0\n1\t2\n2\t4')
    await flow.page.getByRole('grid', { name: 'Result' }).focus()
    await flow.page.keyboard.press('ArrowDown')
    await flow.page.keyboard.press('ArrowDown')
    await flow.page.keyboard.press('Enter')
    await flow.page.getByRole('dialog', { name: 'Row 2' }).waitFor()
    await expectAccessible(flow.page)
    await flow.press('Copy twice')
    await expect.poll(clipboard).toBe('2')
  })

  it('draws the rows that have a time and a number', async () => {
    await flow.go('/sql')
    await type(
      'select toStartOfDay(timestamp) as day, count() as transfers from Transfer group by day order by day',
    )
    await flow.press('Run')
    for (const [name, label] of [
      ['Lines', /line chart of transfers/],
      ['Bars', /bar chart of transfers/],
    ] as const) {
      await flow.page.getByRole('radio', { name }).click()
      await flow.page.getByRole('img', { name: label }).waitFor()
    }
    await expectAccessible(flow.page)
  })

  it('exports a command that answers the same when it is run', async () => {
    await flow.go('/sql')
    await type("select {n:UInt32} as n, 'it''s' as text")
    await flow.page.getByLabel('n: UInt32').fill('7')
    await flow.press('Export as cURL')
    const command = await flow.page.getByRole('region', { name: 'cURL' }).innerText()
    const answer = JSON.parse(await runShell(flow.service, command)) as { result: { rows: unknown[] } }
    expect(answer.result.rows).toEqual([{ n: 7, text: "it's" }])
  })

  it('completes the names of tables and columns', async () => {
    await flow.go('/sql')
    await type('select * from Tran')
    await flow.page.keyboard.type('s')
    await flow.page.locator('.cm-tooltip-autocomplete').getByText('Transfer').first().waitFor()
    await flow.page.getByLabel('Find a table or column').fill('balance')
    await flow.page.getByText('Account', { exact: true }).waitFor()
    expect(await flow.page.getByText('Transfer', { exact: true }).count()).toBe(0)
  })
})
