import { describe, expect, it } from 'vitest'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

/** Presses Tab until what has the focus is called so. */
async function tabTo(name: string | RegExp): Promise<void> {
  const wanted =
    typeof name === 'string' ? (text: string) => text === name : (text: string) => name.test(text)
  const seen: string[] = []
  for (let step = 0; step < 80; step++) {
    await flow.page.keyboard.press('Tab')
    const focused = await flow.page.evaluate<string>(
      `(() => { const e = document.activeElement; const by = e?.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent).join(' '); return (e?.getAttribute('aria-label') ?? by ?? e?.textContent ?? '').trim() })()`,
    )
    if (wanted(focused)) return
    seen.push(focused)
  }
  throw new Error(`Tab leads to none called ${String(name)}, but to ${seen.join(' | ')}`)
}
const key = (name: string) => flow.page.keyboard.press(name)

describe('the keyboard alone', { timeout: 120_000 }, () => {
  it('signs in, skips the navigation, picks a project, and reads a metric', async () => {
    await flow.page.goto('/')
    await flow.page.getByLabel('API key').waitFor()
    await flow.page.keyboard.type(flow.service.administratorKey)
    await key('Enter')
    await flow.page.getByRole('heading', { name: 'Projects' }).waitFor()
    await flow.page.reload()
    await flow.page.getByRole('link', { name: 'acme/dex' }).waitFor()
    await tabTo('Skip to content')
    await key('Enter')
    expect(await flow.page.evaluate('document.activeElement?.id')).toBe('main')
    await tabTo('acme/dex')
    await key('Enter')
    await flow.page.getByRole('heading', { name: 'acme/dex' }).waitFor()
    await tabTo('Metrics')
    await key('Enter')
    await flow.page.getByRole('heading', { name: 'Metrics' }).waitFor()
    await tabTo(/^Metric of query a/)
    await flow.page.keyboard.type('pri')
    await key('ArrowDown')
    await key('Enter')
    await flow.see(/2 series/)
    await tabTo('Function')
    await key('Enter')
    await flow.page.keyboard.type('avg_over')
    await key('ArrowDown')
    await key('Enter')
    await flow.page.waitForURL(/avg_over_time/)
  })

  it('runs a statement and opens a row, and comes out of a dialog to where it was', async () => {
    await flow.go('/sql')
    await flow.page.getByLabel('SQL statement').focus()
    await key('Control+a')
    await key('Delete')
    await flow.page.keyboard.insertText('select 1 as one')
    await key('Control+Enter')
    await flow.see('1 row')
    // Tab leaves the editor; it does not write into the statement.
    await tabTo('Result')
    await key('ArrowDown')
    await key('Enter')
    await flow.page.getByRole('dialog', { name: 'Row 1' }).waitFor()
    await key('Escape')
    await flow.page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect
      .poll(() => flow.page.evaluate(`document.activeElement?.getAttribute('aria-label')`))
      .toBe('Result')
  })
})
