import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

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
    await flow.page.getByRole('table', { name: 'Result' }).hover()
    await flow.page.mouse.wheel(0, 500_000)
    await flow.see(/4,000 rows/)
    await flow.page.mouse.wheel(0, 500_000)
    await flow.see(/6,000 rows/)
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
    await flow.page.getByRole('cell', { name: '42' }).waitFor()
  })

  it('cancels, saves, and downloads the whole result', async () => {
    await flow.go('/sql')
    await type('select sum(sipHash64(toString(number)) % 7) from numbers(999999999)')
    await flow.press('Run')
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
  })
})
