import { describe, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('webhooks', { timeout: 120_000 }, () => {
  it('creates a channel, shows its secret once, tests, pauses, edits and deletes it', async () => {
    await flow.go('/webhooks')
    await flow.press('New channel')
    await flow.page.getByLabel('Name', { exact: true }).fill('alerts')
    await flow.page.getByLabel('Address of the receiver').fill('ftp://example.com')
    await flow.press('Create channel')
    await flow.see(/begins with https/)
    await flow.page.getByLabel('Address of the receiver').fill(flow.receiver.url)
    await expectAccessible(flow.page)
    await flow.press('Create channel')
    await flow.see(/whsec_/)
    await flow.press('I have copied it')
    await flow.page.getByRole('link', { name: 'alerts' }).click()
    await flow.press('Send a test')
    await flow.page.getByRole('button', { name: 'Send', exact: true }).click()
    await flow.see('acknowledged 200')
    await flow.press('Close')
    await flow.press('Pause')
    await flow.page.getByRole('button', { name: 'Resume' }).waitFor()
    await flow.press('Edit')
    await flow.page.getByLabel('First wait').fill('soon')
    await flow.press('Save changes')
    await flow.see(/A number and ms/)
    await flow.page.getByLabel('First wait').fill('5s')
    await flow.press('Save changes')
    await flow.page.getByRole('tab', { name: 'Settings' }).click()
    await flow.see(/5s, doubled up to 1h/)
    await flow.press('Rotate secret')
    await flow.page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await flow.see(/whsec_/)
    await flow.press('I have copied it')
    await expectAccessible(flow.page)
    await flow.press('Delete')
    await flow.page.getByRole('button', { name: 'Delete channel' }).click()
    await flow.page.getByRole('link', { name: 'alerts' }).waitFor({ state: 'detached' })
  })

  it('gives an address to a channel that exports have named, shows its dead letters, redrives and dismisses (IN-7)', async () => {
    flow.receiver.answer = 500
    await flow.go('/webhooks/waiting')
    await flow.see(/their messages wait/)
    await flow.press('Edit')
    await flow.page.getByLabel('Address of the receiver').fill(flow.receiver.url)
    for (const [label, value] of [
      ['First wait', '100ms'],
      ['Longest wait', '100ms'],
      ['Give up after', '100ms'],
      ['and failed attempts', '1'],
    ] as const) {
      await flow.page.getByLabel(label).fill(value)
    }
    await flow.press('Save changes')
    await flow.page
      .getByRole('button', { name: 'I have copied it' })
      .or(flow.page.getByRole('tab', { name: 'Dead letters' }))
      .first()
      .waitFor()
    const copied = flow.page.getByRole('button', { name: 'I have copied it' })
    if (await copied.isVisible()) await copied.click()
    await flow.page.getByRole('tab', { name: 'Dead letters' }).click()
    await flow.press('Show')
    await flow.see(/"export_name":"large"/)
    await flow.press('Close')
    flow.receiver.answer = 200
    await flow.press('Redrive all')
    await flow.page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await flow.see(/are sent again/)
    await flow.see(/No dead letter/)
    flow.receiver.answer = 500
    await flow.page.getByRole('tab', { name: 'Attempts' }).click()
    await flow.see('acknowledged 200')
  })
})
