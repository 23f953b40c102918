import { describe, it } from 'vitest'
import { expectAccessible, signIn } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('data and keys', { timeout: 120_000 }, () => {
  it('finds records by search and filter', async () => {
    await flow.go('/data')
    await flow.see(/500 records, more as you scroll/)
    await flow.page.getByLabel('Search in all columns').fill('needle')
    await flow.see(/^1 records/)
    await flow.page.getByText('needle', { exact: true }).waitFor()
    await flow.page.getByRole('tab', { name: 'Entities' }).click()
    await flow.page.getByText('alice', { exact: true }).waitFor()
    await flow.page.getByRole('tab', { name: 'Versions' }).click()
    await flow.page.getByText('active', { exact: true }).waitFor()
    await expectAccessible(flow.page)
  })

  it('makes a key, shows it once, and revokes it', async () => {
    await signIn(flow.page, flow.service.administratorKey, '/keys')
    await flow.press('New key')
    await flow.press('Create key')
    await flow.see('A name is needed')
    await flow.page.getByLabel('Name').fill('indexer')
    await flow.press('Create key')
    await flow.see(/^mr_/)
    await flow.press('I have copied it')
    const row = flow.page.getByRole('row', { name: /indexer/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await flow.page.getByRole('button', { name: 'Revoke key' }).click()
    await row.waitFor({ state: 'detached' })
    await expectAccessible(flow.page)
  })
})
